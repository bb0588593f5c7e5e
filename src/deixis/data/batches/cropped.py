"""Image augmentation for towers in training: random resized crops and flips."""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from deixis.data.batches.streams import stream
from deixis.errors import RecipeError
from deixis.types import Batch

RATIO = 4 / 3  # of the longer side of a crop to the shorter, at most


@dataclass(frozen=True)
class CroppedBatches:
    """Batches of pixels, each picture cropped, stretched back and perhaps mirrored.

    *Paper*: the settings of VSE++, VSE∞ and DivE that train the CNN. A crop keeps at least
    ``least`` of the picture's area. The crops of a step depend on the seed and the step alone.
    """

    batches: Any  # what has a length and gives the batch of a step
    least: float
    seed: int

    def __len__(self) -> int:
        """Batches per epoch."""
        return len(self.batches)

    def at(self, step: int) -> Batch:
        """The batch of a step, with this step's crops."""
        batch: Batch = self.batches.at(step)
        random = stream(self.seed, step, "crop")
        pixels = batch.images.values
        if pixels.shape[2] != 3:
            raise RecipeError("train.crop needs pictures: use data.image = 'tuned:…'")
        side = round(pixels.shape[1] ** 0.5)
        pictures = crop(pixels.reshape(len(pixels), side, side, 3), self.least, random)
        return replace(batch, images=replace(batch.images, values=pictures.reshape(pixels.shape)))


def crop(
    pictures: Float[Tensor, "image y x 3"], least: float, random: torch.Generator
) -> Float[Tensor, "image y x 3"]:
    """Cut a random part out of each picture, stretch it to the whole, mirror every second one."""
    area, ratio, left, top, mirror = torch.rand(5, len(pictures), generator=random)
    area = least + (1 - least) * area
    ratio = torch.exp((2 * ratio - 1) * math.log(RATIO))
    width, height = (area * ratio).sqrt().clamp(max=1), (area / ratio).sqrt().clamp(max=1)
    middle_x, middle_y = (2 * left - 1) * (1 - width), (2 * top - 1) * (1 - height)
    zero, sign = torch.zeros_like(area), torch.where(mirror < 0.5, -1.0, 1.0)
    across = torch.stack([width * sign, zero, middle_x], dim=1)
    down = torch.stack([zero, height, middle_y], dim=1)
    values = pictures.permute(0, 3, 1, 2)
    grid = functional.affine_grid(
        torch.stack([across, down], dim=1).to(pictures), list(values.shape), align_corners=False
    )
    cut = functional.grid_sample(values, grid, padding_mode="border", align_corners=False)
    return cut.permute(0, 2, 3, 1).contiguous()
