"""Detector outputs: bottom-up tables, or one array file per picture."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.store.boxes import from_corners
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.shapes import Float, Int

COLUMNS = ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features")
KEPT = 36  # regions of a picture


def choose_regions(scores: Float[ndarray, " region"]) -> Int[ndarray, " chosen"]:
    """Regions to keep, best first: at most 36.

    *Paper*: the label-wise methods take 36 regions with scores above 0.5, else the best 36. Either
    way these are the best 36.

    >>> choose_regions(np.array([0.2, 0.9, 0.6])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(-scores, kind="stable")
    return order[:KEPT]


@dataclass(frozen=True)
class DetectionFiles:
    """A folder with an ``.npz`` or ``.npy`` per picture, under the picture's own relative name.

    An ``.npz`` holds ``features`` and may hold ``boxes`` (x1, y1, x2, y2), ``width`` and
    ``height`` (without them boxes are relative) and ``scores``; an ``.npy`` holds features alone.
    """

    path: Path

    def find(self, file: str) -> PackedRegions:
        """The regions of one picture."""
        stem = self.path / file
        found = next((p for s in (".npz", ".npy") if (p := stem.with_suffix(s)).is_file()), None)
        if found is None:
            raise DataError(f"{stem.with_suffix('.npz')}: there is no such file, nor an .npy")
        try:
            loaded = np.load(found, allow_pickle=False)
            arrays = {"features": loaded} if found.suffix == ".npy" else dict(loaded)
        except (OSError, ValueError) as error:
            raise DataError(f"{found}: not arrays numpy can read ({error})") from error
        return _packed(arrays, str(found))


def _packed(arrays: Mapping[str, ndarray], where: str) -> PackedRegions:
    if "features" not in arrays or arrays["features"].ndim != 2:
        raise DataError(f"{where}: no 'features' of two axes; found: {', '.join(sorted(arrays))}")
    values = arrays["features"].astype(np.float32, copy=False)
    chosen = choose_regions(arrays["scores"]) if "scores" in arrays else np.arange(len(values))
    boxes = None
    if "boxes" in arrays:
        size = [float(arrays[name]) if name in arrays else 1.0 for name in ("width", "height")]
        boxes = from_corners(arrays["boxes"].astype(np.float32), *size)[chosen]
    if not np.isfinite(values).all():
        raise DataError(f"{where}: a feature is NaN or infinite")
    return PackedRegions(values[chosen], offsets_of([len(chosen)]), boxes)


class RegionTables:
    """Bottom-up tables: tab-separated lines with boxes and features as base64 of float32.

    A picture is found by its name's number, or by its name as the table has it. Only where each
    line begins is kept; a line is decoded when it is asked for.
    """

    def __init__(self, tables: Sequence[Path]) -> None:
        self._lines: dict[str, tuple[Path, int, int]] = {}  # id → table, byte, line
        for path in tables:
            with path.open("rb") as file:
                offset = 0
                for number, raw in enumerate(file, start=1):
                    name = raw.split(b"\t", 1)[0].decode("utf-8", "replace")
                    self._lines[_plain(name)] = (path, offset, number)
                    offset += len(raw)

    def find(self, file: str) -> PackedRegions:
        """The regions of one picture."""
        name = Path(file).stem
        key = next(
            (k for k in (_plain(name), _plain(name.rpartition("_")[2])) if k in self._lines), None
        )
        if key is None:
            raise DataError(f"no table of regions has a line for {file}")
        path, offset, number = self._lines[key]
        with path.open("rb") as table:
            table.seek(offset)
            cells = table.readline().decode("ascii", "replace").rstrip("\r\n").split("\t")
        return _decoded(cells, f"{path}:{number}")


def _plain(name: str) -> str:
    return name.lstrip("0") or "0"


def _decoded(cells: Sequence[str], where: str) -> PackedRegions:
    if len(cells) != len(COLUMNS):
        raise DataError(f"{where}: {len(cells)} columns; wanted {', '.join(COLUMNS)}")
    _, width, height, count, boxes, features = cells
    try:
        corners, values = (
            np.frombuffer(base64.b64decode(cell, validate=True), dtype="<f4").reshape(
                int(count), -1
            )
            for cell in (boxes, features)
        )
        size = float(width), float(height)
    except ValueError as error:
        raise DataError(f"{where}: not a line of regions ({error})") from error
    if not np.isfinite(values).all():
        raise DataError(f"{where}: a feature is NaN or infinite")
    return PackedRegions(values, offsets_of([len(values)]), from_corners(corners, *size))
