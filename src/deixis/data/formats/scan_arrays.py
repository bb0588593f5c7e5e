"""Precomputed features as SCAN has them: ``{split}_ims.npy``, ``{split}_caps.txt``, ids.

There are no pictures: an image is a row of its split's array and is called
``train_ims.npy#7``. There may be one row per image or one per text (each image repeated); either
way the array is mapped, never copied.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.parsing.text_lines import numbered_lines
from deixis.data.split_names import split_name
from deixis.errors import DataError
from deixis.features.store.boxes import from_corners
from deixis.features.store.npy_files import map_npy

_NAME = re.compile(r"(\w+)_ims\.npy#(\d+)")
TEXTS_PER_IMAGE = 5  # of every corpus that came this way; asked only when rows are repeated


def scan_arrays_in(root: Path) -> list[Path]:
    """The arrays of a folder that have captions beside them."""
    found = sorted(root.glob("*_ims.npy")) if root.is_dir() else []
    return [path for path in found if _beside(path, "caps").is_file()]


def list_scan_arrays(root: Path, report: ReportProblem) -> Listing:
    """List the splits of a folder; ``dev`` is ``val``, ``testall`` is a split of its own."""
    arrays = scan_arrays_in(root)
    rows = (row for path in arrays for row in _rows(path, report))
    return Listing(root.resolve().name, root, rows, arrays=tuple(arrays), pictures=False)


def array_row(file: str) -> tuple[str, int]:
    """The array that holds an image's features, and its row there.

    >>> array_row("dev_ims.npy#35")
    ('dev_ims.npy', 35)
    """
    found = _NAME.fullmatch(file)
    if found is None:
        raise DataError(f"{file} is not a row of a feature array, as train_ims.npy#7")
    return f"{found[1]}_ims.npy", int(found[2])


def map_array(path: Path) -> Float[ndarray, "row region feature"]:
    """Map an array of region features; one vector per row is one region."""
    array = map_npy(path)
    array = array[:, None] if array.ndim == 2 else array
    if array.ndim != 3 or array.dtype.kind != "f":
        raise DataError(f"{path}: {array.dtype} of shape {array.shape}; wanted floats, 3 axes")
    return array


def array_boxes(path: Path, regions: int) -> Float[ndarray, "row 5"] | None:
    """The boxes beside an array of features, region by region; None when there are none.

    ``_boxes.npy`` holds x1, y1, x2, y2 per region, in pixels where ``_image_size.npy``
    (width, height per row) lies beside it, else relative to the picture.
    """
    boxes, sizes = (
        path.with_name(path.name.replace("_ims", f"_{what}")) for what in ("boxes", "image_size")
    )
    if not boxes.is_file():
        return None
    corners = map_npy(boxes).astype(np.float32)
    images = len(map_array(path))
    if corners.shape != (images, regions, 4):
        raise DataError(f"{boxes}: shape {corners.shape}; wanted {(images, regions, 4)}")
    if sizes.is_file():
        size = map_npy(sizes).astype(np.float32).reshape(-1, 2)
        if len(size) != images or size.min(initial=1) <= 0:
            raise DataError(f"{sizes}: wanted a width and a height above 0 for {images} rows")
        corners = corners / np.tile(size, 2)[:, None]
    elif corners.max(initial=0) > 2:  # relative ones leave the picture by a little at most
        raise DataError(f"{boxes} is in pixels; add {sizes} with width and height per row")
    return from_corners(corners.reshape(-1, 4))


@dataclass(frozen=True)
class _Shape:
    """How rows and texts of a split go together."""

    images: int
    step: int  # rows from one image to the next
    texts: int  # an image


def _shape(path: Path, texts: int) -> _Shape:
    array = map_array(path)
    if len(array) == texts and texts % TEXTS_PER_IMAGE == 0:
        groups = array[:, 0, :8].reshape(-1, TEXTS_PER_IMAGE, min(8, array.shape[2]))
        if (groups == groups[:, :1]).all():
            return _Shape(texts // TEXTS_PER_IMAGE, TEXTS_PER_IMAGE, TEXTS_PER_IMAGE)
    if not len(array) or texts % len(array):
        raise DataError(
            f"{path} has {len(array)} rows and {_beside(path, 'caps')} {texts} texts;"
            " use a whole number of texts per image"
        )
    return _Shape(len(array), 1, texts // len(array))


def _rows(path: Path, report: ReportProblem) -> Iterator[ImageRow]:
    captions = _beside(path, "caps")
    texts = [text for _, text in numbered_lines(captions, report)]
    while texts and not texts[-1]:
        texts.pop()
    shape = _shape(path, len(texts))
    ids = _ids(_beside(path, "ids"), shape, report)
    split = split_name(path.name.removesuffix("_ims.npy"))
    for image in range(shape.images):
        first = image * shape.texts
        mine = range(first, first + shape.texts)
        yield ImageRow(
            f"{captions}:{first + 1}",
            f"{path.name}#{image * shape.step}",
            tuple(texts[text] for text in mine),
            split,
            tuple(f"{captions}:{text + 1}" for text in mine),
            id=ids[image] if len(ids) == shape.images else -1,
            text_ids=tuple(ids[text] for text in mine) if len(ids) > shape.images else (),
        )


def _ids(path: Path, shape: _Shape, report: ReportProblem) -> list[int]:
    """Ids of images or of texts, whichever the file has as many of; none without a file."""
    if not path.is_file():
        return []
    lines = [
        (number, line.strip()) for number, line in numbered_lines(path, report) if line.strip()
    ]
    if len(lines) not in (shape.images, shape.images * shape.texts):
        found = f"{len(lines)} ids for {shape.images} images with {shape.texts} texts each"
        report(CorpusProblem("malformed", str(path), found))
        return []
    numbers = [line for _, line in lines if line.isdecimal()]
    return [int(line) for line in numbers] if len(numbers) == len(lines) else []


def _beside(array: Path, what: str) -> Path:
    return array.with_name(array.name.replace("_ims.npy", f"_{what}.txt"))
