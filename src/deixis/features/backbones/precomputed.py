"""Precomputed regions, in the folder ``regions`` beside their pictures.

The folder holds one of three things: arrays (``values.npy`` (row, feature), ``boxes.npy`` (row, 5),
``offsets.npy`` (image + 1) and ``files.json``, the names relative to the corpus in the order of
offsets); bottom-up tables (``*.tsv``); or a detector's output, an ``.npz`` or ``.npy`` per picture.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.backbones.detections import DetectionFiles, RegionTables
from deixis.features.store.image_files import PictureBytes, PictureSource, SharedPicture
from deixis.features.store.npy_files import map_npy
from deixis.features.store.packed import PackedRegions, arrays_of, offsets_of
from deixis.files import parse_json, replacing, write_atomic

FOLDER = "regions"
ROWS = 4096  # of an array checked at once


@dataclass(frozen=True)
class PrecomputedRegions:
    """The regions a corpus brings, found by the file name of a picture."""

    name: ClassVar[str] = "regions"

    def identity(self) -> dict[str, str]:
        """Nothing was computed here: the corpus itself identifies these features."""
        return {"weights": "precomputed", "preprocessing": "precomputed"}

    def read(self, path: PictureSource) -> PackedRegions:
        """Find the regions of one picture."""
        source = path.source if isinstance(path, SharedPicture) else path
        file = source.origin if isinstance(source, PictureBytes) else source
        if file is None:
            raise DataError(f"{path}: precomputed regions are found beside files on disk only")
        file = file.absolute()
        for root in file.parents:
            if (root / FOLDER).is_dir():
                return _opened(root / FOLDER).find(file.relative_to(root).as_posix())
        raise DataError(f"{path}: there is no folder '{FOLDER}' beside or above it")

    def __call__(self, pictures: Sequence[PackedRegions]) -> PackedRegions:
        """Join the regions of several pictures."""
        if not pictures:
            return PackedRegions(np.zeros((0, 0), np.float16), offsets_of([]))
        counts = [len(one.values) for one in pictures]
        values = np.concatenate([one.values for one in pictures])
        boxes = [one.boxes for one in pictures if one.boxes is not None]
        whole = np.concatenate(boxes) if len(boxes) == len(pictures) else None
        return PackedRegions(values, offsets_of(counts), whole)


@dataclass(frozen=True)
class RegionFolder:
    """An opened folder of regions: the arrays, mapped, and each file's place among the images."""

    path: Path
    places: dict[str, int]
    packed: PackedRegions

    @classmethod
    def open(cls, path: Path) -> "RegionFolder":
        """Map a folder, refusing arrays that do not fit each other or are not finite."""
        files = _file_names(path / "files.json")
        values, offsets, boxes = (
            map_npy(path / f"{name}.npy") for name in ("values", "offsets", "boxes")
        )
        if (values.ndim, offsets.ndim, boxes.ndim) != (2, 1, 2):
            raise DataError(f"{path}: values and boxes must have two axes, offsets one")
        if len(offsets) != len(files) + 1 or not offsets[-1] == len(values) == len(boxes):
            raise DataError(f"{path}: values, boxes, offsets and files.json do not fit each other")
        for name, array in (("values", values), ("boxes", boxes)):
            refuse_not_finite(path / f"{name}.npy", array)
        packed = PackedRegions(values, offsets, boxes)
        return cls(path, {file: i for i, file in enumerate(files)}, packed)

    def find(self, file: str) -> PackedRegions:
        """The regions of one file."""
        if file not in self.places:
            raise DataError(f"{self.path}/files.json does not list {file}")
        place, packed = self.places[file], self.packed
        assert packed.boxes is not None, "a folder always has boxes"
        rows = slice(packed.offsets[place], packed.offsets[place + 1])
        values = packed.values[rows]
        return PackedRegions(values, offsets_of([len(values)]), packed.boxes[rows])


def _file_names(path: Path) -> list[str]:
    try:
        files = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a list of file names ({error})") from error
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise DataError(f"{path}: not a list of file names")
    return files


@lru_cache(maxsize=4)
def _opened(path: Path) -> RegionFolder | RegionTables | DetectionFiles:
    if (path / "files.json").is_file():
        return RegionFolder.open(path)
    tables = sorted(path.glob("*.tsv"))
    return RegionTables(tables) if tables else DetectionFiles(path)


def write_regions(root: Path, files: Sequence[str], regions: PackedRegions) -> None:
    """Write the regions of a corpus beside it; the list of files comes last and completes it."""
    folder = root / FOLDER
    for name, array in arrays_of(regions).items():
        with replacing(folder / f"{name}.npy") as temporary, temporary.open("wb") as file:
            np.save(file, array, allow_pickle=False)
    write_atomic(folder / "files.json", json.dumps(list(files)).encode())


def not_finite_rows(array: ndarray) -> Iterator[int]:
    """The rows of an array that hold a NaN or infinity."""
    for start in range(0, len(array), ROWS):
        part = array[start : start + ROWS]
        if np.isfinite(part.min(initial=0)) and np.isfinite(part.max(initial=0)):  # NaN passes on
            continue
        wrong = ~np.isfinite(part).reshape(len(part), -1).all(axis=1)
        yield from (start + np.flatnonzero(wrong)).tolist()


def refuse_not_finite(path: Path, array: ndarray) -> None:
    """Refuse an array with a NaN or infinity in it, naming the first such row."""
    for row in not_finite_rows(array):
        raise DataError(f"{path}: row {row} holds NaN or infinity")
