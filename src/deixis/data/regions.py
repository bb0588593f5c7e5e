"""Precomputed regions of a corpus: in its folder ``regions``, or as the arrays it consists of.

Arrays stay mapped; what is returned with them is which of their images a corpus' images are.
"""

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.formats.scan_arrays import array_boxes, array_row, map_array
from deixis.errors import DataError
from deixis.features.backbones.precomputed import FOLDER, RegionFolder, refuse_not_finite
from deixis.features.store.packed import PackedRegions, offsets_of

IndexedRegions = tuple[PackedRegions, Int[ndarray, " image"]]


def has_arrays(corpus: Corpus) -> bool:
    """Whether a corpus brings regions that can be used where they lie."""
    return _is_array(corpus) or (corpus.root / FOLDER / "files.json").is_file()


def _is_array(corpus: Corpus) -> bool:
    return bool(corpus.files) and "_ims.npy#" in corpus.files[0]


def read_regions(corpus: Corpus) -> IndexedRegions:
    """The regions a corpus lies beside, and the place of each of its images among them."""
    if _is_array(corpus):
        return _of_array(corpus)
    if not has_arrays(corpus):
        beside = corpus.root / FOLDER
        raise DataError(f"corpus '{corpus.name}' brings no regions: {beside}/files.json is missing")
    folder = RegionFolder.open(corpus.root / FOLDER)
    missing = [file for file in corpus.files if file not in folder.places]
    if missing:
        raise DataError(
            f"{folder.path}/files.json: {len(missing)} images have none, as {missing[0]}"
        )
    return folder.packed, np.array([folder.places[file] for file in corpus.files], dtype=np.int64)


def _of_array(corpus: Corpus) -> IndexedRegions:
    names, rows = zip(*map(array_row, corpus.files), strict=True)
    if len(set(names)) > 1:
        raise DataError(f"the images of '{corpus.name}' lie in several arrays; choose one split")
    path = corpus.root / names[0]
    array = map_array(path)
    refuse_not_finite(path, array[: max(rows) + 1])
    images, regions, size = array.shape
    values = array.reshape(images * regions, size)
    packed = PackedRegions(values, offsets_of([regions] * images), array_boxes(path, regions))
    return packed, np.array(rows, dtype=np.int64)
