"""Several backbones, or several views of one, as one image backbone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import FeatureError
from deixis.features.store.image_files import PictureSource, mirror_image, shared
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.files import json_hash
from deixis.shapes import Float32, UInt8

WHOLE = (0.0, 1.0, 0.0, 1.0, 1.0)  # the box of the whole picture


@dataclass(frozen=True)
class MirroredMean:
    """A backbone whose whole-image vector is the mean over a picture and its mirror image.

    Texts rarely mention left and right, and the mean is more stable than either.
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

    def read(self, path: PictureSource) -> UInt8[ndarray, "y x 3"]:
        """Open one picture."""
        pixels: UInt8[ndarray, "y x 3"] = self.backbone.read(path)
        return pixels

    def __call__(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> PackedRegions:
        """Turn pictures into regions, encoding each twice."""
        seen = self.backbone(pictures)
        if seen.pooled is None:
            raise FeatureError(f"'{self.name}' needs a backbone with a whole-image vector")
        return replace(seen, pooled=(seen.pooled + self._mirrored(pictures)) / 2)

    def whole(
        self, pictures: Sequence[UInt8[ndarray, "y x 3"]]
    ) -> Float32[ndarray, "image feature"]:
        """Only the whole-image vectors."""
        return (_whole(self.backbone, pictures) + self._mirrored(pictures)) / 2

    def _mirrored(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> ndarray:
        return _whole(self.backbone, [mirror_image(pixels) for pixels in pictures])


@dataclass(frozen=True)
class CombinedBackbones:
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

    def read(self, path: PictureSource) -> tuple[Any, ...]:
        """Open one picture as each of them wants it, decoding it once where they agree."""
        picture = shared(path)
        return tuple(backbone.read(picture) for backbone in self.backbones)

    def __call__(self, pictures: Sequence[tuple[Any, ...]]) -> PackedRegions:
        """Turn opened pictures into one vector each."""
        columns = zip(*pictures, strict=True) if pictures else [()] * len(self.backbones)
        each = zip(self.backbones, columns, strict=True)
        pooled = np.concatenate([_whole(one, list(column)) for one, column in each], axis=1)
        boxes = np.tile(np.array(WHOLE, np.float32), (len(pictures), 1))
        return PackedRegions(pooled, offsets_of([1] * len(pictures)), boxes, pooled)


def _whole(backbone: Any, pictures: Sequence[Any]) -> Float32[ndarray, "image feature"]:
    """Whole-image vectors, without regions where a backbone can leave them out."""
    if hasattr(backbone, "whole"):
        return np.asarray(backbone.whole(pictures))
    pooled = backbone(pictures).pooled
    if pooled is None:
        raise FeatureError(f"'{backbone.name}' has no whole-image vector")
    return np.asarray(pooled)
