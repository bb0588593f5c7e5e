"""Precomputed regions that lie beside a corpus, in a folder ``regions``.

``values.npy`` (row, feature), ``boxes.npy`` (row, 5), ``offsets.npy`` (image + 1) and
``files.json``, the list of the images in their order: what a detector run elsewhere would bring.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import DataError
from deixis.features.packed import PackedRegions, arrays_of, offsets_of

FOLDER = "regions"


def has_regions(root: Path) -> bool:
    """Whether a corpus brings regions of its own."""
    return (root / FOLDER / "files.json").is_file()


def write_regions(root: Path, files: Sequence[str], regions: PackedRegions) -> None:
    """Put the regions of a corpus beside it; the list of files comes last and makes it whole."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays_of(regions).items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    (folder / "files.json").write_text(json.dumps(list(files)), encoding="utf-8")


def read_regions(corpus: Corpus) -> PackedRegions:
    """The regions of a corpus' images, in the order of its images."""
    folder = corpus.root / FOLDER
    if not has_regions(corpus.root):
        raise DataError(f"corpus '{corpus.name}' brings no regions: {folder}/files.json is missing")
    places = {file: i for i, file in enumerate(json.loads((folder / "files.json").read_text()))}
    missing = [file for file in corpus.files if file not in places]
    if missing:
        raise DataError(f"{folder}/files.json: {len(missing)} images have none, as {missing[0]}")
    values, offsets, boxes = (
        np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        for name in ("values", "offsets", "boxes")
    )
    if len(offsets) != len(places) + 1 or offsets[-1] != len(values) or len(boxes) != len(values):
        raise DataError(f"{folder}: values, boxes, offsets and files.json do not fit each other")
    return _chosen(values, offsets, boxes, [places[file] for file in corpus.files])


def _chosen(
    values: Float[ndarray, "row feature"],
    offsets: ndarray,
    boxes: Float[ndarray, "row 5"],
    images: Sequence[int],
) -> PackedRegions:
    spans = [np.arange(offsets[image], offsets[image + 1]) for image in images]
    rows = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
    return PackedRegions(values[rows], offsets_of([len(span) for span in spans]), boxes[rows])
