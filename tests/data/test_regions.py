import json
from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.data.regions import read_regions, write_regions
from deixis.errors import DataError
from deixis.features.packed import PackedRegions


def corpus(root: Path, *files: str) -> Corpus:
    none = np.zeros(0, dtype=np.int64)
    return Corpus("c", root, files, (), none, none.reshape(0, 2), ("train",) * len(files))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    values = np.arange(12, dtype=np.float16).reshape(6, 2)
    boxes = np.ones((6, 5), dtype=np.float32)
    write_regions(tmp_path, ["a", "b", "c"], PackedRegions(values, np.array([0, 1, 3, 6]), boxes))
    return tmp_path


def test_regions_come_in_the_order_of_the_corpus(root: Path) -> None:
    regions = read_regions(corpus(root, "c", "a"))
    assert regions.offsets.tolist() == [0, 3, 4]
    assert regions.values[:, 0].tolist() == [6, 8, 10, 0]


def test_an_image_without_regions_is_named(root: Path) -> None:
    with pytest.raises(DataError, match="1 images have none, as d"):
        read_regions(corpus(root, "a", "d"))


def test_a_corpus_without_regions_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="brings no regions"):
        read_regions(corpus(tmp_path, "a"))


def test_arrays_that_do_not_fit_are_refused(root: Path) -> None:
    (root / "regions" / "files.json").write_text(json.dumps(["a", "b"]))
    with pytest.raises(DataError, match="do not fit"):
        read_regions(corpus(root, "a"))
