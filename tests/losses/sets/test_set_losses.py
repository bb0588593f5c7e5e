"""The terms of PVSE and DivE equal their published values, and their gradients are finite."""

import pytest
import torch

from deixis.heads.l2_normalise import l2_normalise
from deixis.losses.miners import hardest
from deixis.losses.sets.diversity import Diversity
from deixis.losses.sets.mmd import MMD, mean_kernel
from deixis.losses.sets.uniformity import Uniformity
from deixis.losses.triplet import Triplet
from deixis.methods.dive import DivE
from deixis.methods.pvse import PVSE
from deixis.similarity.set_similarity import BestPair, SmoothChamfer
from deixis.types import Batch, Embedding, Outputs, Regions, Sizes, Tokens


def embedding(vectors: torch.Tensor, residual: torch.Tensor) -> Embedding:
    return Embedding(vectors, torch.ones(vectors.shape[:2], dtype=torch.bool), residual=residual)


def outputs(images: Embedding, texts: Embedding, similarity) -> Outputs:
    each = len(texts) // len(images)
    positives = torch.eye(len(images), dtype=torch.bool).repeat_interleave(each, dim=1)
    batch = Batch(
        Regions(torch.zeros(len(images), 1, 1), torch.ones(len(images), 1, dtype=torch.bool)),
        Tokens(torch.zeros(len(texts), 1).long(), torch.ones(len(texts), 1, dtype=torch.bool)),
        positives,
    )
    return Outputs(images, texts, similarity(images, texts), batch)


def published(golden, name: str, similarity) -> tuple[Outputs, dict[str, torch.Tensor]]:
    arrays = {key: torch.from_numpy(value) for key, value in golden(name).items()}
    images = embedding(arrays["img_sets"], arrays["img_residual"])
    texts = embedding(arrays["txt_sets"], arrays["txt_residual"])
    return outputs(images, texts, similarity), arrays


def test_the_terms_of_dive_equal_the_published_ones(golden):
    out, arrays = published(golden, "dive/dive_loss", SmoothChamfer())
    terms = {
        "mmd": MMD()(out, 0),
        "diversity": Diversity()(out, 0),
        "uniformity_on_residuals": Uniformity()(out, 0),
        "sim_smooth_chamfer_alpha16": out.scores,
    }
    for name, ours in terms.items():
        torch.testing.assert_close(ours, arrays[name], atol=1e-5, rtol=0)


def test_the_objective_of_dive_equals_the_published_total(golden):
    out, arrays = published(golden, "dive/dive_loss", SmoothChamfer())
    terms = DivE().objective(Sizes())(out, 0)
    assert sum(terms.values()).item() == pytest.approx(
        arrays["script_config_total"].item(), abs=1e-5
    )
    assert terms["discrepancy"].item() == pytest.approx(0.01 * arrays["mmd"].item(), abs=1e-6)


def test_the_objective_of_pvse_equals_the_published_total(golden):
    out, arrays = published(golden, "dive/pvse_loss", BestPair())
    torch.testing.assert_close(out.scores, arrays["mil_sim"], atol=1e-5, rtol=0)
    terms = PVSE().objective(Sizes())(out, 0)
    expected = {
        "rank": arrays["max_ranking"],
        "discrepancy": 0.01 * arrays["mmd"],
        "diversity": 0.1 * arrays["diversity"],
    }
    for name, theirs in expected.items():
        torch.testing.assert_close(terms[name], theirs, atol=1e-5, rtol=0)
    assert sum(terms.values()).item() == pytest.approx(arrays["max_total"].item(), abs=1e-5)


def test_the_published_mean_counts_six_pairs_that_ours_leaves_out(golden):
    """PVSE divides by all 36 pairs, the 6 matching ones among them, which can never cost."""
    out, arrays = published(golden, "dive/pvse_loss", BestPair())
    ours = PVSE(warmup=1).objective(Sizes())(out, 0)["rank"]
    torch.testing.assert_close(ours * 30 / 36, arrays["mean_ranking"], atol=1e-5, rtol=0)


def test_the_mean_kernel_has_the_gradient_of_its_formula():
    left, right = torch.randn(5, 3).double(), torch.randn(4, 3).double()
    assert torch.autograd.gradcheck(
        mean_kernel, (left.requires_grad_(), right.requires_grad_()), atol=1e-6
    )
    torch.testing.assert_close(
        mean_kernel(left, right), (-0.5 * torch.cdist(left, right)).exp().mean()
    )


def test_elements_that_coincide_leave_every_gradient_finite():
    same = torch.ones(2, 3, 4, requires_grad=True)
    images, texts = embedding(l2_normalise(same), same), embedding(l2_normalise(same), same)
    out = outputs(images, texts, BestPair())
    for loss in (MMD(), Diversity(), Uniformity(), Triplet(0.2, hardest)):
        (gradient,) = torch.autograd.grad(loss(out, 0), same, retain_graph=True)
        assert gradient.isfinite().all()
        assert gradient.abs().max() < 10
    assert MMD()(out, 0).item() == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("loss", [Diversity(), Uniformity()])
def test_a_set_of_one_has_nothing_to_keep_apart(loss):
    residual = torch.randn(3, 1, 4, requires_grad=True)
    one = embedding(l2_normalise(residual), residual)
    value = loss(outputs(one, one, BestPair()), 0)
    assert value.item() == pytest.approx(0.0, abs=1e-9)
    value.backward()
    assert residual.grad.isfinite().all()


@pytest.mark.parametrize("loss", [Diversity(), Uniformity(), MMD()])
def test_parts_that_do_not_exist_change_nothing(loss):
    vectors, residual = l2_normalise(torch.randn(3, 2, 4)), torch.randn(3, 2, 4)
    near = embedding(vectors, residual)
    mask = torch.tensor([[True, True, False]]).expand(3, -1)
    far = Embedding(
        torch.cat([vectors, l2_normalise(torch.randn(3, 1, 4))], 1),
        mask,
        residual=torch.cat([residual, torch.randn(3, 1, 4)], 1),
    )
    torch.testing.assert_close(
        loss(outputs(near, near, BestPair()), 0), loss(outputs(far, far, BestPair()), 0)
    )
