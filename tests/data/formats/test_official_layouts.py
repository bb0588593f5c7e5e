"""Every corpus is read as it unpacks: its format, splits, texts, ids and labels."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deixis.data.check_corpus import check_corpus
from deixis.data.read_corpus import format_of, read_corpus
from deixis.errors import DataError
from layouts.coco_annotations import write_coco2017
from layouts.conceptual_captions import write_conceptual_captions, write_gathered_captions
from layouts.flickr8k import write_captions_table, write_flickr8k, write_published_flickr8k
from layouts.karpathy import FIRST_ID, write_coco, write_flickr30k
from layouts.localized_narratives import write_flickr30k_narratives, write_open_images
from layouts.scan_arrays import COCO, write_scan_arrays
from layouts.tagged import write_mirflickr, write_nuswide


def write_coco2014(root: Path) -> Path:
    """COCO of 2014 without Karpathy's file."""
    (write_coco(root) / "dataset_coco.json").unlink()
    return root


LAYOUTS: dict[str, tuple[Callable[[Path], Path], str, dict[str, int], int]] = {
    # folder: how it is written, the format it has, images of each split, texts
    "f30k_precomp": (
        write_scan_arrays, "precomputed features", {"train": 24, "val": 10, "test": 10}, 220,
    ),
    "coco_precomp": (
        lambda root: write_scan_arrays(root, COCO, boxes=True, repeated=False),
        "precomputed features", {"train": 24, "val": 10, "test": 5, "testall": 25}, 320,
    ),
    "flickr30k": (
        write_flickr30k, "Karpathy's JSON", {"train": 20, "val": 6, "test": 6}, 160,
    ),
    "coco": (write_coco, "Karpathy's JSON", {"train": 22, "val": 6, "test": 10}, 190),
    "coco2014": (write_coco2014, "COCO captions", {"train": 16, "val": 22}, 190),
    "coco2017": (write_coco2017, "COCO captions", {"train": 12, "val": 6}, 90),
    "flickr30k_narratives": (
        write_flickr30k_narratives, "folder of pictures", {"train": 20, "val": 6, "test": 6}, 32,
    ),
    "open_images": (
        write_open_images, "folder of pictures", {"train": 20, "val": 6, "test": 6}, 32,
    ),
    "cc": (write_conceptual_captions, "Conceptual Captions", {"train": 19, "val": 5}, 24),
    "cc_gathered": (write_gathered_captions, "Conceptual Captions", {"train": 20, "val": 6}, 26),
    "flickr8k_published": (
        write_published_flickr8k, "Flickr's captions", {"train": 24, "val": 6, "test": 6}, 180,
    ),
    "flickr8k": (write_flickr8k, "photo corpus", {"train": 24, "val": 6, "test": 6}, 216),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_corpus_is_read_as_it_unpacks(name, tmp_path):
    write, wanted, splits, texts = LAYOUTS[name]
    root = write(tmp_path / name)
    assert format_of(root).name == wanted
    corpus = read_corpus(root)
    assert Counter(corpus.splits) == splits
    assert len(corpus.texts) == texts
    assert check_corpus(root).problems == []


@pytest.mark.parametrize("write", [write_mirflickr, write_nuswide])
def test_a_tagged_corpus_is_read_as_it_unpacks(write, tmp_path):
    corpus = read_corpus(write(tmp_path / "tagged"))
    assert set(corpus.splits) == {"train", "test"}
    assert len(corpus.label_names) == 8
    assert corpus.labels is not None and corpus.labels.any(axis=1).all()
    assert all("only" not in text and text for text in corpus.texts)


@pytest.mark.parametrize("ids", ["stem", "file"])
def test_flickr30ks_narratives_say_the_split_under_either_kind_of_id(ids, tmp_path):
    corpus = read_corpus(write_flickr30k_narratives(tmp_path / "flickr30k", ids))
    narrated = {split: len(corpus.split(split).narrations) for split in ("train", "val", "test")}
    assert narrated == {"train": 20, "val": 6, "test": 6}
    assert corpus.files[0] == "flickr30k-images/1000092795.jpg"


def test_a_picture_narrated_in_two_splits_is_named(tmp_path):
    root = write_flickr30k_narratives(tmp_path / "flickr30k")
    names = [root / f"flickr30k_{split}_localized_narratives.jsonl" for split in ("train", "test")]
    names[1].write_text(names[0].read_text().splitlines()[0] + "\n" + names[1].read_text())
    with pytest.raises(DataError, match=r"train_.*:1: image '1000092795' is narrated in split 'te"):
        read_corpus(root)


def test_karpathys_coco_keeps_ids_labels_and_its_folders(tmp_path):
    corpus = read_corpus(write_coco(tmp_path / "coco"))
    assert corpus.files[0] == f"train2014/COCO_train2014_000000{FIRST_ID}.jpg"
    assert corpus.image_ids is not None and corpus.image_ids[0] == FIRST_ID
    assert corpus.label_names[:2] == ("man", "dog")
    assert corpus.labels is not None and corpus.labels.any(axis=1).all()


def test_narratives_of_coco_find_pictures_by_their_number(tmp_path):
    root = write_coco(tmp_path / "coco")
    record = f'{{"dataset_id": "mscoco_train2017", "image_id": "{FIRST_ID}", "caption": "a dog"}}\n'
    (root / "coco_train_localized_narratives-00000-of-00004.jsonl").write_text(record)
    corpus = read_corpus(root)
    assert corpus.narrated().texts == ("a dog",)
    assert corpus.narrated().owners.tolist() == [0]


def test_a_folder_of_several_corpora_asks_for_one(tmp_path):
    root = write_flickr30k(tmp_path / "caption_datasets")
    (root / "dataset_flickr8k.json").write_text((root / "dataset_flickr30k.json").read_text())
    with pytest.raises(DataError, match=r"several corpora: dataset_flickr30k.json, dataset_flick"):
        read_corpus(root)


def test_a_folder_around_a_corpus_names_the_one_inside(tmp_path):
    """The code of VSE∞ and DivE keeps SCAN's arrays in ``f30k/precomp``."""
    write_scan_arrays(tmp_path / "f30k" / "precomp")
    (tmp_path / "f30k" / "id_mapping.json").write_text("{}")
    with pytest.raises(DataError, match=r"f30k/precomp is a corpus: name that folder"):
        read_corpus(tmp_path / "f30k")


def test_conceptual_captions_without_their_pictures_say_where_they_should_lie(tmp_path):
    (tmp_path / "Train_GCC-training.tsv").write_text("a dog\thttp://pictures.example/dog.jpg\n")
    with pytest.raises(DataError, match=r"none of its pictures is in .*training, called by the"):
        read_corpus(tmp_path)


def test_a_table_finds_its_pictures_in_the_folder_beside_it(tmp_path):
    corpus = read_corpus(write_captions_table(tmp_path / "flickr8k") / "captions.txt")
    assert corpus.files[0] == "Images/1000268201_693b08cb0e.jpg"
    assert len(corpus.texts) == 40 and corpus.path(0).is_file()


def test_flickr30ks_captions_without_lists_of_splits_all_train(tmp_path):
    token = "1000092795.jpg#0\tTwo young guys .\n1000092795.jpg#1\tTwo men .\n"
    (tmp_path / "results_20130124.token").write_text(token)
    corpus = read_corpus(tmp_path)
    assert (corpus.splits, len(corpus.texts)) == (("train",), 2)


def test_a_line_of_captions_without_a_tab_is_named(tmp_path):
    (tmp_path / "results.token").write_text("1.jpg#0\tfine\n2.jpg two\n")
    with pytest.raises(DataError, match=r"results.token:2: wanted NAME.jpg#0, a tab and a caption"):
        read_corpus(tmp_path)


def test_one_list_of_conceptual_captions_can_be_named(tmp_path):
    root = write_conceptual_captions(tmp_path / "cc")
    assert set(read_corpus(root / "Train_GCC-training.tsv").splits) == {"train"}


@pytest.mark.parametrize("part", ["ims.npy", "boxes.npy", "image_size.npy", "caps.txt"])
def test_the_test_split_of_coco_is_the_first_fold_of_testall(part, tmp_path):
    root = write_scan_arrays(tmp_path, COCO, boxes=True, repeated=False)
    split, whole = (_rows(root / f"{name}_{part}") for name in ("test", "testall"))
    assert len(whole) == 5 * len(split)
    assert np.array_equal(split, whole[: len(split)])


def _rows(path: Path) -> np.ndarray:
    return np.load(path) if path.suffix == ".npy" else np.array(path.read_text().splitlines())
