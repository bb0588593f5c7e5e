"""The sorted head equals GPO's published code."""

import pytest
import torch

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import ProjectionMLP
from deixis.heads.gpo import GPO, position_code
from deixis.types import Regions


def load_gpo(head: GPO, arrays) -> GPO:
    names = {"fwd": "", "bwd": "_reverse"}
    state = {
        f"gru.{part.replace('w_', 'weight_').replace('b_', 'bias_')}_l0{suffix}": (
            torch.from_numpy(arrays[f"gru_{way}_{part}"])
        )
        for way, suffix in names.items()
        for part in ("w_ih", "w_hh", "b_ih", "b_hh")
    }
    head.load_state_dict({**state, "score.weight": torch.from_numpy(arrays["score_w"])})
    return head


def mask_of(lengths, places: int) -> torch.Tensor:
    return torch.arange(places) < torch.from_numpy(lengths).long().unsqueeze(1)


def test_weights_and_pooled_values_equal_the_published_ones(golden):
    arrays = golden("dive/gpo")
    head = load_gpo(GPO(), arrays)
    mask = mask_of(arrays["lengths"], 9)
    torch.testing.assert_close(
        head.weights(mask.sum(dim=1), 9),
        torch.from_numpy(arrays["pool_weights"]),
        atol=1e-6,
        rtol=0,
    )
    pooled = head.pool(torch.from_numpy(arrays["features"]), mask)
    torch.testing.assert_close(pooled, torch.from_numpy(arrays["pooled"]), atol=1e-5, rtol=0)


def test_position_codes_equal_the_published_ones(golden):
    codes = position_code(9, torch.device("cpu"))
    torch.testing.assert_close(
        codes, torch.from_numpy(golden("dive/gpo")["pos_enc"]), atol=1e-6, rtol=0
    )


def test_padding_changes_neither_values_nor_gradients():
    head = GPO()
    places = torch.randn(2, 3, 4, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    wide = torch.cat([places, torch.full((2, 5, 4), 1e4)], dim=1)
    wide_mask = torch.cat([mask, torch.zeros(2, 5, dtype=torch.bool)], dim=1)
    near, far = head(places, mask).vectors, head(wide, wide_mask).vectors
    torch.testing.assert_close(near, far)
    (gradient,) = torch.autograd.grad(far.sum(), places)
    assert gradient.isfinite().all()
    assert gradient[1, 1:].abs().max() == 0


@pytest.fixture
def vse_infinity_image(golden):
    arrays = golden("dive/vse_inf_image_region")
    body = ProjectionMLP(24, 16)
    pairs = {"linear": "fc", "inner": "mlp1", "norm": "bn", "outer": "mlp2"}
    state = {
        f"{ours}.{long}": torch.from_numpy(arrays[f"{theirs}_{short}"])
        for ours, theirs in pairs.items()
        for long, short in (("weight", "w"), ("bias", "b"))
    }
    state["norm.running_mean"] = torch.from_numpy(arrays["bn_running_mean"])
    state["norm.running_var"] = torch.from_numpy(arrays["bn_running_var"])
    state["norm.num_batches_tracked"] = torch.tensor(0)
    body.load_state_dict(state)
    mask = mask_of(arrays["lengths"], 6)
    regions = Regions(torch.from_numpy(arrays["regions"]), mask)
    return Encoder(body, load_gpo(GPO(), arrays)), regions, arrays


def test_the_image_tower_of_vse_infinity_equals_the_published_one(vse_infinity_image):
    encoder, regions, arrays = vse_infinity_image
    vectors = encoder.eval()(regions).vectors[:, 0]
    torch.testing.assert_close(
        vectors, torch.from_numpy(arrays["embedding_eval"]), atol=1e-5, rtol=0
    )


def test_batch_statistics_leave_padding_out_unlike_the_published_code(vse_infinity_image):
    encoder, regions, arrays = vse_infinity_image
    encoder.train()(regions)
    published = torch.from_numpy(arrays["bn_running_mean_after"])
    assert not torch.allclose(encoder.body.norm.running_mean, published, atol=1e-4)
