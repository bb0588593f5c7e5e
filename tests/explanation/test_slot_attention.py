"""Attention of slots over places, behind features or behind a tower in training."""

import pytest
import torch

from deixis.encoders.trainable_towers import TrainableImageTower
from deixis.errors import RunError
from deixis.explanation.slot_attention import attention_maps
from deixis.features.backbones.transformers_features import HFImages
from deixis.features.store.boxes import grid_boxes
from deixis.methods.dive import DivE
from deixis.types import Regions, Sizes
from tiny_towers import tiny_vit


def slots(region: int):
    method = DivE(dim=8, word_dim=6, parts=3, iterations=2, head_dim=4)
    return method.model(Sizes(region=region, vocabulary=9)).eval().image


def test_a_trained_towers_patches_lie_on_a_grid_and_shares_add_up(tmp_path):
    tower = HFImages(tiny_vit(tmp_path / "vit")).tower
    encoder = TrainableImageTower(tower, slots(16)).eval()
    pixels = 255 * torch.rand(2, 24 * 24, 3)
    maps = attention_maps(encoder, Regions(pixels, torch.ones(2, 24 * 24, dtype=torch.bool)))
    assert maps.shares.shape == (2, 2, 3, 9)
    torch.testing.assert_close(maps.shares.sum(dim=3), torch.ones(2, 2, 3))
    torch.testing.assert_close(maps.boxes[1], torch.from_numpy(grid_boxes(3)))


def test_features_without_places_are_refused_with_the_reason():
    regions = Regions(torch.randn(1, 4, 6), torch.ones(1, 4, dtype=torch.bool))
    with pytest.raises(RunError, match="do not say where regions lie"):
        attention_maps(slots(6), regions)
