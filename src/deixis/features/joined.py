"""Several backbones, or several views of one, as one image backbone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from numpy import ndarray

from deixis.errors import FeatureError
from deixis.features.files import json_hash
from deixis.features.packed import PackedRegions, offsets_of

WHOLE = (0.0, 1.0, 0.0, 1.0, 1.0)  # the box of the whole picture


@dataclass(frozen=True)
class BothWays:
    """A backbone whose whole-image vector is the mean over a picture and its mirror image.

    What a text says is rarely about left and right, and the mean is steadier than either.
    Regions stay those of the picture as it is.
    """

    backbone: Any  # an ImageBackbone whose pictures are arrays of pixels

    @property
    def name(self) -> str:
        """The backbone's name and what is done to its pictures."""
        return f"{self.backbone.name}:both"

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        return {**self.backbone.identity(), "view": "both"}

    def read(self, path: Path) -> UInt8[ndarray, "y x 3"]:
        """Open one picture."""
        pixels: UInt8[ndarray, "y x 3"] = self.backbone.read(path)
        return pixels

    def __call__(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> PackedRegions:
        """Turn pictures into regions, looking at each twice."""
        seen = self.backbone(pictures)
        mirrored = self.backbone([np.ascontiguousarray(pixels[:, ::-1]) for pixels in pictures])
        if seen.pooled is None:
            raise FeatureError(f"'{self.name}' needs a backbone with a whole-image vector")
        return replace(seen, pooled=(seen.pooled + mirrored.pooled) / 2)


@dataclass(frozen=True)
class Joined:
    """Whole-image vectors of several backbones side by side; a picture is one region."""

    backbones: tuple[Any, ...]  # ImageBackbones

    @property
    def name(self) -> str:
        """All their names."""
        return "+".join(backbone.name for backbone in self.backbones)

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        each = [backbone.identity() for backbone in self.backbones]
        keys = ("weights", "preprocessing")
        return {key: json_hash([{**one, "of": key} for one in each]) for key in keys}

    def read(self, path: Path) -> tuple[Any, ...]:
        """Open one picture as each of them wants it."""
        return tuple(backbone.read(path) for backbone in self.backbones)

    def __call__(self, pictures: Sequence[tuple[Any, ...]]) -> PackedRegions:
        """Turn opened pictures into one vector each."""
        columns = zip(*pictures, strict=True) if pictures else [()] * len(self.backbones)
        packed = [one(list(column)) for one, column in zip(self.backbones, columns, strict=True)]
        if any(one.pooled is None for one in packed):
            raise FeatureError(f"'{self.name}' needs backbones with a whole-image vector each")
        pooled = np.concatenate([one.pooled for one in packed], axis=1)
        boxes = np.tile(np.array(WHOLE, np.float32), (len(pictures), 1))
        return PackedRegions(pooled, offsets_of([1] * len(pictures)), boxes, pooled)
