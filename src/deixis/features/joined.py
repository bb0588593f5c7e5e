"""Several backbones, or several views of one, as one image backbone."""

from collections.abc import Sequence
from dataclasses import dataclass
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
class Flipped:
    """A backbone that sees every picture mirrored; boxes stay the original's."""

    backbone: Any  # an ImageBackbone whose pictures are arrays of pixels

    @property
    def name(self) -> str:
        """The backbone's name and what is done to its pictures."""
        return f"{self.backbone.name}:flip"

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        return {**self.backbone.identity(), "view": "flip"}

    def read(self, path: Path) -> UInt8[ndarray, "y x 3"]:
        """Open one picture, mirrored."""
        return np.ascontiguousarray(self.backbone.read(path)[:, ::-1])

    def __call__(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> PackedRegions:
        """Turn mirrored pictures into regions."""
        packed = self.backbone(pictures)
        boxes = packed.boxes
        if boxes is not None:
            mirrored = np.stack([1 - boxes[:, 1], 1 - boxes[:, 0]], axis=1)
            boxes = np.concatenate([mirrored, boxes[:, 2:]], axis=1)
        return PackedRegions(packed.values, packed.offsets, boxes, packed.pooled)


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
