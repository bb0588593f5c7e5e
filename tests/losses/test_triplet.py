"""The triplet loss equals every published form of it."""

import pytest
import torch

from deixis.heads.l2_normalise import l2_normalise
from deixis.losses.miners import every, hardest
from deixis.losses.triplet import Triplet
from deixis.types import Batch, Embedding, Outputs, Regions, Tokens

MINERS = {"sum": every, "max": hardest}


def outputs(scores: torch.Tensor, positives: torch.Tensor) -> Outputs:
    images, texts = scores.shape
    batch = Batch(
        Regions(torch.zeros(images, 1, 1), torch.ones(images, 1, dtype=torch.bool)),
        Tokens(torch.zeros(texts, 1, dtype=torch.long), torch.ones(texts, 1, dtype=torch.bool)),
        positives,
    )
    blank = Embedding(torch.zeros(images, 1, 1), torch.ones(images, 1, dtype=torch.bool))
    other = Embedding(torch.zeros(texts, 1, 1), torch.ones(texts, 1, dtype=torch.bool))
    return Outputs(blank, other, scores, batch)


@pytest.mark.parametrize("mode", ["sum", "max"])
def test_equals_the_published_vsepp_loss_and_gradient(golden, mode):
    arrays = golden("dive/vsepp_loss")
    images = torch.from_numpy(arrays["img"]).requires_grad_()
    scores = images @ torch.from_numpy(arrays["cap"]).T
    loss = Triplet(0.2, MINERS[mode])(outputs(scores, torch.eye(7, dtype=torch.bool)), 0)
    assert loss.item() == pytest.approx(float(arrays[f"cosine_{mode}"]), abs=1e-5)
    loss.backward()
    published = torch.from_numpy(arrays[f"cosine_{mode}_grad_img"])
    torch.testing.assert_close(images.grad, published, atol=1e-5, rtol=0)


@pytest.mark.parametrize("mode", ["sum", "max"])
def test_equals_the_published_round_one_loss_of_aoq(golden, mode):
    arrays = golden("aoq/triplet")
    images = torch.from_numpy(arrays["im"]).requires_grad_()
    texts = torch.from_numpy(arrays["s"]).requires_grad_()
    loss = Triplet(float(arrays["margin"]), MINERS[mode])(
        outputs(images @ texts.T, torch.eye(6, dtype=torch.bool)), 0
    )
    assert loss.item() == pytest.approx(float(arrays[f"cosine_{mode}_loss"]), abs=1e-9)
    loss.backward()
    torch.testing.assert_close(images.grad, torch.from_numpy(arrays[f"cosine_{mode}_gim"]))
    torch.testing.assert_close(texts.grad, torch.from_numpy(arrays[f"cosine_{mode}_gs"]))


@pytest.mark.parametrize(("miner", "name"), [(hardest, "hardest"), (every, "all_negatives")])
def test_equals_the_published_dive_loss_over_five_texts_per_image(golden, miner, name):
    arrays = golden("dive/dive_loss")
    scores = torch.from_numpy(arrays["sim"]).requires_grad_()
    positives = torch.eye(6, dtype=torch.bool).repeat_interleave(5, dim=1)
    loss = Triplet(0.2, miner, "mean")(outputs(scores, positives), 0)
    assert loss.item() == pytest.approx(float(arrays[f"{name}_total"]), abs=1e-5)
    loss.backward()
    published = torch.from_numpy(arrays[f"{name}_grad_sim"])
    torch.testing.assert_close(scores.grad, published, atol=1e-5, rtol=0)


def test_a_second_text_of_the_same_image_is_never_a_negative():
    scores = torch.tensor([[0.5, 0.9], [0.0, 0.0]])
    both = torch.tensor([[True, True], [False, False]])
    loss = Triplet(0.2, hardest)(outputs(scores, both), 0)
    assert loss.item() == 0.0


def test_a_collapsed_model_sits_at_twice_batch_times_margin():
    scores = torch.ones(8, 8)
    loss = Triplet(0.2, hardest)(outputs(scores, torch.eye(8, dtype=torch.bool)), 0)
    assert loss.item() == pytest.approx(2 * 8 * 0.2)


def test_unit_vectors_have_finite_gradients_at_zero():
    zero = torch.zeros(2, 3, requires_grad=True)
    l2_normalise(zero).sum().backward()
    assert zero.grad.isfinite().all()
