import json
from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.data.read_corpus import read_corpus
from deixis.data.regions import read_regions
from deixis.errors import DataError
from deixis.features.backbones.precomputed import write_regions
from deixis.features.store.packed import PackedRegions


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
    regions, places = read_regions(corpus(root, "c", "a"))
    assert places.tolist() == [2, 0]
    rows = [slice(*regions.offsets[place : place + 2]) for place in places]
    assert [regions.values[row, 0].tolist() for row in rows] == [[6, 8, 10], [0]]


def test_regions_are_mapped_never_copied(root: Path) -> None:
    regions, _ = read_regions(corpus(root, "c", "a"))
    assert isinstance(regions.values, np.memmap)


def test_a_number_that_is_none_is_refused_with_its_row(root: Path) -> None:
    values = np.load(root / "regions" / "values.npy")
    values[4, 1] = np.nan
    np.save(root / "regions" / "values.npy", values)
    with pytest.raises(DataError, match=r"values.npy: row 4 holds NaN"):
        read_regions(corpus(root, "a"))


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


@pytest.fixture
def precomp(tmp_path: Path) -> Path:
    """One train row per image, dev rows five times, as in the published arrays."""
    rng = np.random.default_rng(0)
    train, dev = rng.random((3, 4, 6), np.float32), rng.random((2, 4, 6), np.float32)
    np.save(tmp_path / "train_ims.npy", train)
    np.save(tmp_path / "dev_ims.npy", dev.repeat(5, axis=0))
    for split, count in (("train", 15), ("dev", 10)):
        lines = "".join(f"{split} text {i}\n" for i in range(count))
        (tmp_path / f"{split}_caps.txt").write_text(lines)
    (tmp_path / "dev_ids.txt").write_text("".join(f"{900 + i}\n" for i in range(10)))
    (tmp_path / "train_ids.txt").write_text("11\n22\n33\n")
    return tmp_path


def test_precomputed_arrays_are_a_corpus_repeated_or_not(precomp: Path) -> None:
    found = read_corpus(precomp)
    assert (len(found.files), len(found.texts)) == (5, 25)
    dev, train = found.split("val"), found.split("train")
    assert dev.owners.tolist() == [0] * 5 + [1] * 5
    assert dev.texts[5] == "dev text 5"
    assert dev.text_ids is not None and dev.text_ids.tolist() == list(range(900, 910))
    assert train.image_ids is not None and train.image_ids.tolist() == [11, 22, 33]


def test_repeated_rows_are_shared_and_mapped(precomp: Path) -> None:
    corpus = read_corpus(precomp)
    for split, step, name in (("val", 5, "dev"), ("train", 1, "train")):
        regions, places = read_regions(corpus.split(split))
        array = np.load(precomp / f"{name}_ims.npy")
        assert isinstance(regions.values, np.memmap) or isinstance(regions.values.base, np.memmap)
        assert places.tolist() == [step * i for i in range(len(places))]
        first = regions.values[regions.offsets[places[1]] : regions.offsets[places[1] + 1]]
        assert np.array_equal(first, array[step])


def test_one_text_per_image_is_not_taken_for_repetition(tmp_path: Path) -> None:
    np.save(tmp_path / "train_ims.npy", np.random.default_rng(0).random((10, 4, 6), np.float32))
    (tmp_path / "train_caps.txt").write_text("x\n" * 10)
    assert len(read_corpus(tmp_path).files) == 10


def test_arrays_and_captions_that_do_not_fit_are_refused(precomp: Path) -> None:
    (precomp / "train_caps.txt").write_text("x\n" * 14)
    with pytest.raises(DataError, match="has 3 rows and .*train_caps.txt 14 texts"):
        read_corpus(precomp)


def test_nan_in_a_precomputed_array_is_refused(precomp: Path) -> None:
    array = np.load(precomp / "train_ims.npy")
    array[1, 2, 3] = np.nan
    np.save(precomp / "train_ims.npy", array)
    with pytest.raises(DataError, match=r"train_ims.npy: row 1 holds NaN"):
        read_regions(read_corpus(precomp).split("train"))
