"""Precomputed features as SCAN has them: ``{split}_ims.npy``, ``{split}_caps.txt``, ids.

There are no pictures: an image is a row of its split's array and is called
``train_ims.npy#7``. Rows may stand once an image or once a text (each image repeated); either way
the array is mapped, never copied.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.lines import numbered_lines
from deixis.data.problems import Problem, Tell
from deixis.data.rows import Listing, Row, split_name
from deixis.errors import DataError

_NAME = re.compile(r"(\w+)_ims\.npy#(\d+)")
TEXTS_AN_IMAGE = 5  # of every corpus that came this way; asked only when rows are repeated


def precomp_arrays(root: Path) -> list[Path]:
    """The arrays of a folder that have captions beside them."""
    found = sorted(root.glob("*_ims.npy")) if root.is_dir() else []
    return [path for path in found if _beside(path, "caps").is_file()]


def list_precomp(root: Path, tell: Tell) -> Listing:
    """List the splits of a folder; ``dev`` is ``val``, ``testall`` is a split of its own."""
    arrays = precomp_arrays(root)
    rows = (row for path in arrays for row in _rows(path, tell))
    return Listing(root.resolve().name, root, rows, arrays=tuple(arrays), pictures=False)


def array_row(file: str) -> tuple[str, int]:
    """The array an image's features lie in, and its row there.

    >>> array_row("dev_ims.npy#35")
    ('dev_ims.npy', 35)
    """
    found = _NAME.fullmatch(file)
    if found is None:
        raise DataError(f"{file} is not a row of a feature array, as train_ims.npy#7")
    return f"{found[1]}_ims.npy", int(found[2])


def map_array(path: Path) -> Float[ndarray, "row region feature"]:
    """Map an array of region features; one vector a row is one region."""
    try:
        array: ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not an array numpy can map ({error})") from error
    array = array[:, None] if array.ndim == 2 else array
    if array.ndim != 3 or array.dtype.kind != "f":
        raise DataError(f"{path}: {array.dtype} of shape {array.shape}; wanted floats, 3 axes")
    return array


@dataclass(frozen=True)
class _Shape:
    """How rows and texts of a split go together."""

    images: int
    step: int  # rows from one image to the next
    texts: int  # an image


def _shape(path: Path, texts: int) -> _Shape:
    array = map_array(path)
    if len(array) == texts and texts % TEXTS_AN_IMAGE == 0:
        groups = array[:, 0, :8].reshape(-1, TEXTS_AN_IMAGE, min(8, array.shape[2]))
        if (groups == groups[:, :1]).all():
            return _Shape(texts // TEXTS_AN_IMAGE, TEXTS_AN_IMAGE, TEXTS_AN_IMAGE)
    if not len(array) or texts % len(array):
        raise DataError(
            f"{path} has {len(array)} rows and {_beside(path, 'caps')} {texts} texts;"
            " a whole number of texts an image would do"
        )
    return _Shape(len(array), 1, texts // len(array))


def _rows(path: Path, tell: Tell) -> Iterator[Row]:
    captions = _beside(path, "caps")
    texts = [text for _, text in numbered_lines(captions, tell)]
    while texts and not texts[-1]:
        texts.pop()
    shape = _shape(path, len(texts))
    ids = _ids(_beside(path, "ids"), shape, tell)
    split = split_name(path.name.removesuffix("_ims.npy"))
    for image in range(shape.images):
        first = image * shape.texts
        mine = range(first, first + shape.texts)
        yield Row(
            f"{captions}:{first + 1}",
            f"{path.name}#{image * shape.step}",
            tuple(texts[text] for text in mine),
            split,
            tuple(f"{captions}:{text + 1}" for text in mine),
            id=ids[image] if len(ids) == shape.images else -1,
            text_ids=tuple(ids[text] for text in mine) if len(ids) > shape.images else (),
        )


def _ids(path: Path, shape: _Shape, tell: Tell) -> list[int]:
    """Ids of images or of texts, whichever the file has as many of; none without a file."""
    if not path.is_file():
        return []
    lines = [(number, line.strip()) for number, line in numbered_lines(path, tell) if line.strip()]
    if len(lines) not in (shape.images, shape.images * shape.texts):
        found = f"{len(lines)} ids for {shape.images} images with {shape.texts} texts each"
        tell(Problem("malformed", str(path), found))
        return []
    numbers = [line for _, line in lines if line.isdecimal()]
    return [int(line) for line in numbers] if len(numbers) == len(lines) else []


def _beside(array: Path, what: str) -> Path:
    return array.with_name(array.name.replace("_ims.npy", f"_{what}.txt"))
