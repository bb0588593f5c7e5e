import pytest
import torch

from deixis.data.batches.cropped import CroppedBatches, crop
from deixis.errors import RecipeError
from deixis.types import Batch, Regions, Tokens


def ramp(count=200, side=16):
    """Pictures whose red says x and whose green says y, so that a crop can be read off."""
    place = (torch.arange(side) + 0.5) / side
    y, x = torch.meshgrid(place, place, indexing="ij")
    return torch.stack([x, y, torch.zeros_like(x)], dim=2).repeat(count, 1, 1, 1)


def test_crops_keep_at_least_their_share_and_lie_inside():
    cut = crop(ramp(), 0.36, torch.Generator().manual_seed(0))
    width = (cut[:, 8, -1, 0] - cut[:, 8, 0, 0]) * 16 / 15
    height = (cut[:, -1, 8, 1] - cut[:, 0, 8, 1]) * 16 / 15
    assert (height > 0).all()
    assert 60 < (width < 0).sum() < 140, "about half are mirrored"
    area = width.abs() * height
    assert area.min() > 0.30 and area.max() < 1.05, "border pixels blur the reading a little"
    assert area.std() > 0.1
    assert cut.min() >= 0 and cut.max() <= 1
    assert (width.abs() / height).max() < 1.9


def test_without_room_to_crop_a_picture_is_itself_or_its_mirror_image():
    pictures = ramp(8)
    cut = crop(pictures, 1.0, torch.Generator().manual_seed(1))
    mirrored = cut[:, 8, 0, 0] > cut[:, 8, -1, 0]
    stretched = cut[:, 8].flip(1)[..., 0]
    assert torch.allclose(cut[~mirrored][:, :, 7:9, 0].mean(), torch.tensor(0.5), atol=0.15)
    assert mirrored.any() and (~mirrored).any()
    assert (stretched[mirrored].diff(dim=1) >= 0).all()


class Drawn:
    """The same pictures at every step."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return 3

    def at(self, step):
        mask = torch.ones(self.values.shape[:2], dtype=torch.bool)
        words = Tokens(torch.ones(2, 1, dtype=torch.long), torch.ones(2, 1, dtype=torch.bool))
        return Batch(Regions(self.values, mask), words, torch.eye(2, dtype=torch.bool))


def test_a_step_has_its_crops_whenever_it_is_drawn():
    batches = CroppedBatches(Drawn(ramp(2).reshape(2, 256, 3)), 0.5, seed=4)
    first, second, again = (batches.at(step).images.values for step in (0, 1, 0))
    assert len(batches) == 3
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    assert first.shape == (2, 256, 3)


def test_features_that_are_not_pictures_cannot_be_cropped():
    with pytest.raises(RecipeError, match="train.crop needs pictures"):
        CroppedBatches(Drawn(torch.ones(2, 4, 8)), 0.5, seed=0).at(0)
