"""CAMP's fused score can start as a dot product, although it is a perceptron of a sum."""

import math

import pytest
import torch

from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.camp_fusion_start import LIFT, start_as_dot_product
from deixis.types import Embedding


def parts(items: int, places: int, dim: int) -> Embedding:
    """Parts of about unit length that are alike within an item."""
    values = torch.randn(items, places, dim) + torch.randn(items, 1, dim)
    values = torch.nn.functional.normalize(values, dim=2)
    return Embedding(LIFT + values, torch.ones(items, places, dtype=torch.bool))


def dots(images: Embedding, texts: Embedding) -> torch.Tensor:
    return (images.vectors - LIFT).mean(dim=1) @ (texts.vectors - LIFT).mean(dim=1).T


def begun(dim: int, *, attend: bool) -> GatedFusion:
    torch.manual_seed(0)
    fusion = GatedFusion(dim, "sum", attend=attend, squash=False)
    start_as_dot_product(fusion)
    return fusion


def test_the_lift_leaves_no_squares():
    assert LIFT**2 * math.tanh(LIFT**2 / 2) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("attend", [True, False])
def test_the_score_starts_as_the_dot_product_of_means(attend):
    fusion = begun(512, attend=attend)
    images, texts = parts(20, 9, 512), parts(30, 12, 512)
    with torch.no_grad():
        scores = fusion(images, texts)
    wanted = dots(images, texts)
    assert (scores - wanted).std() < 0.2 * wanted.std()
    assert abs((scores - wanted).mean()) < 0.01


def test_every_layer_learns_from_that_start_and_outputs_differ():
    fusion = begun(32, attend=True)
    fusion(parts(4, 3, 32), parts(4, 5, 32)).diagonal().sum().backward()
    named = dict(fusion.named_parameters())
    for name in ("text_key.weight", "pool_images.question.weight", "fuse_texts.layer.weight"):
        assert named[name].grad.abs().sum() > 0, name
    rows = named["fuse_images.layer.weight"].detach()
    assert not torch.allclose(rows[0], rows[1])
