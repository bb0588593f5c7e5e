"""Hard negatives as AOQ's authors released them: two arrays of places in the training split."""

from pathlib import Path

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.data.negatives.mined_negatives import MinedNegatives, MiningSource
from deixis.errors import DataError
from deixis.files import json_hash

ROWS = 4096  # anchors checked at once


def holds_released_lists(folder: Path) -> bool:
    """Whether a folder has lists of both directions, such as ``i2t_coco.npy``."""
    return bool(list(folder.glob("i2t_*.npy"))) and bool(list(folder.glob("t2i_*.npy")))


def read_released_lists(folder: Path, train: Dataset, texts: int, images: int) -> MinedNegatives:
    """The first negatives of each list, mapped from disk.

    The published lists hold 2,000 texts per image and 400 images per text, hardest first, numbered
    as the training split's arrays are. Lists of another split or order hold true matches or places
    beyond its end, and are refused.
    """
    paths = [_one(folder, "i2t_*.npy"), _one(folder, "t2i_*.npy")]
    of_images, of_texts = (np.load(path, mmap_mode="r", allow_pickle=False) for path in paths)
    pairs = train.corpus.pairs
    _check(paths[0], of_images, pairs, (len(train.images), len(train.texts)))
    _check(paths[1], of_texts, pairs[:, ::-1], (len(train.texts), len(train.images)))
    source = MiningSource(model="released", split=json_hash([path.name for path in paths]))
    return MinedNegatives(of_images, of_texts, source).cut(texts, images)


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise DataError(f"{folder} has {len(found)} files {pattern}; wanted one")
    return found[0]


def _check(
    path: Path,
    lists: Int[ndarray, "anchor hard"],
    matches: Int[ndarray, "pair 2"],
    sizes: tuple[int, int],
) -> None:
    if lists.ndim != 2 or len(lists) != sizes[0]:
        raise DataError(f"{path} has the shape {lists.shape}; wanted {sizes[0]} lists")
    known = np.unique(matches[:, 0] * sizes[1] + matches[:, 1])
    for top in range(0, len(lists), ROWS):
        some = np.asarray(lists[top : top + ROWS], dtype=np.int64)
        if some.min(initial=0) < 0 or some.max(initial=0) >= sizes[1]:
            raise DataError(f"{path} names item {some.max()}; the split has {sizes[1]}")
        pair = (top + np.arange(len(some)))[:, None] * sizes[1] + some
        wrong = np.isin(pair, known)
        if wrong.any():
            anchor = top + int(np.flatnonzero(wrong.any(axis=1))[0])
            raise DataError(
                f"{path}: list {anchor} holds a true match; it is of another split or order"
            )
