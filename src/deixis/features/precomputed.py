"""Regions somebody else computed, lying beside the pictures they belong to."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.packed import PackedRegions, offsets_of


@dataclass(frozen=True)
class PrecomputedRegions:
    """The regions a corpus brings, found by the file name of a picture.

    They lie in the folder ``regions`` of the corpus: ``values.npy``, ``offsets.npy``,
    ``boxes.npy`` and ``files.json``, the names relative to the corpus in the order of offsets.
    """

    name: ClassVar[str] = "regions"

    def identity(self) -> dict[str, str]:
        """Nothing was computed here: the corpus itself says what these features are."""
        return {"weights": "precomputed", "preprocessing": "precomputed"}

    def read(self, path: Path) -> PackedRegions:
        """Find the regions of one picture."""
        path = path.absolute()
        for root in path.parents:
            if (root / "regions" / "files.json").is_file():
                return _folder(root / "regions").find(path.relative_to(root).as_posix())
        raise DataError(f"{path}: no folder above it holds regions/files.json")

    def __call__(self, pictures: Sequence[PackedRegions]) -> PackedRegions:
        """Join the regions of several pictures."""
        if not pictures:
            return PackedRegions(np.zeros((0, 0), np.float16), offsets_of([]), np.zeros((0, 5)))
        counts = [len(one.values) for one in pictures]
        values = np.concatenate([one.values for one in pictures])
        boxes = np.concatenate([one.boxes for one in pictures if one.boxes is not None])
        return PackedRegions(values, offsets_of(counts), boxes)


@dataclass(frozen=True)
class _Folder:
    path: Path
    places: dict[str, int]
    values: Float[ndarray, "row feature"]
    offsets: Int[ndarray, " image_plus_one"]
    boxes: Float[ndarray, "row 5"]

    def find(self, file: str) -> PackedRegions:
        if file not in self.places:
            raise DataError(f"{self.path}/files.json does not list {file}")
        place = self.places[file]
        rows = slice(self.offsets[place], self.offsets[place + 1])
        values = self.values[rows]
        return PackedRegions(values, offsets_of([len(values)]), self.boxes[rows])


@lru_cache(maxsize=4)
def _folder(path: Path) -> _Folder:
    files = json.loads((path / "files.json").read_text(encoding="utf-8"))
    values, offsets, boxes = (
        np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        for name in ("values", "offsets", "boxes")
    )
    if len(offsets) != len(files) + 1 or not offsets[-1] == len(values) == len(boxes):
        raise DataError(f"{path}: values, boxes, offsets and files.json do not fit each other")
    return _Folder(path, {file: i for i, file in enumerate(files)}, values, offsets, boxes)
