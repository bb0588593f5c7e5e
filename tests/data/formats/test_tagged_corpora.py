"""MIRFLICKR-25K and NUS-WIDE as they unpack, and Karpathy's COCO with instances as labels."""

import json
from pathlib import Path

import pytest

from deixis.data.formats import mirflickr, nuswide
from deixis.data.read_corpus import format_of, read_corpus
from deixis.errors import DataError

TAGS = {1: "sky\nsea\nsky", 2: "sea\nsky", 3: "rare", 10: "sea\nrarest"}


@pytest.fixture
def flickr25k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mirflickr, "COMMON", 2)
    root = tmp_path / "flickr"
    tags, labels = root / "mirflickr/meta/tags", root / "mirflickr25k_annotations_v080"
    tags.mkdir(parents=True)
    labels.mkdir()
    for number, content in TAGS.items():
        (tags / f"tags{number}.txt").write_text(content + "\n")
    files = {"sky": "1\n2\n", "sky_r1": "1\n", "animals": "3\n10\n", "README": "Hello\n"}
    for name, content in files.items():
        (labels / f"{name}.txt").write_text(content)
    return root


def test_mirflickr_reads_common_tags_by_how_common_they_are(flickr25k: Path) -> None:
    assert format_of(flickr25k).name == "MIRFLICKR-25K"
    corpus = read_corpus(flickr25k)
    assert corpus.texts == ("sea sky", "sea sky", "sea")
    assert corpus.files == tuple(f"mirflickr/im{n}.jpg" for n in (1, 2, 3, 10))
    assert corpus.image_ids is not None and corpus.image_ids.tolist() == [1, 2, 3, 10]


def test_mirflickr_images_without_a_common_tag_are_left_out(flickr25k: Path) -> None:
    assert read_corpus(flickr25k).splits == ("train", "train", "left out", "test")


def test_mirflickr_labels_are_the_potential_ones(flickr25k: Path) -> None:
    corpus = read_corpus(flickr25k)
    assert corpus.label_names == ("animals", "sky")
    assert corpus.labels is not None
    assert corpus.labels.tolist() == [[False, True], [False, True], [True, False], [True, False]]


def test_mirflickr_texts_fit_every_image_tagged_alike(flickr25k: Path) -> None:
    positives = read_corpus(flickr25k).split("train").positives()
    assert positives.tolist() == [[True, True], [True, True]]


def test_mirflickr_texts_alike_are_one_where_models_are_tested(
    flickr25k: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirflickr, "TESTED", 1)
    test = read_corpus(flickr25k).split("test")
    assert test.texts == ("sea sky", "sea") and test.owners.tolist() == [0, 2]
    assert test.positives().tolist() == [[True, False], [True, False], [False, True]]


def test_mirflickr_annotations_may_lie_beside_the_pictures(flickr25k: Path) -> None:
    corpus = read_corpus(flickr25k / "mirflickr")
    assert corpus.files[0] == "im1.jpg" and corpus.label_names == ("animals", "sky")


def test_mirflickr_without_annotations_says_where_they_go(flickr25k: Path) -> None:
    (flickr25k / "mirflickr25k_annotations_v080").rename(flickr25k / "elsewhere")
    with pytest.raises(DataError, match="unpack the second archive beside them"):
        read_corpus(flickr25k)


def test_a_label_file_of_anything_but_numbers_is_named_with_its_line(flickr25k: Path) -> None:
    (flickr25k / "mirflickr25k_annotations_v080/sky.txt").write_text("1\nim2\n")
    with pytest.raises(DataError, match=r"sky.txt:2: found 'im2', not the number of an image"):
        read_corpus(flickr25k)


@pytest.fixture
def nus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(nuswide, "CONCEPTS", 2)
    root = tmp_path / "nus"
    for folder in ("ImageList", "Groundtruth/AllLabels", "NUS_WID_Tags", "Flickr/a"):
        (root / folder).mkdir(parents=True)
    images = [f"a\\000{n}_{100 + n}.jpg" for n in range(1, 5)]
    (root / "ImageList/Imagelist.txt").write_text("\r\n".join(images) + "\r\n")
    (root / "ImageList/TestImagelist.txt").write_text(images[1] + "\n")
    (root / "Flickr/a/0001_101.jpg").touch()
    marks = {"sky": "1 1 0 1", "dog": "1 0 0 1", "car": "0 0 1 0"}
    for name, column in marks.items():
        content = column.replace(" ", "\n") + "\n"
        (root / f"Groundtruth/AllLabels/Labels_{name}.txt").write_text(content)
    (root / "NUS_WID_Tags/TagList1k.txt").write_text("nature\nblue\n")
    lines = [b"101  blue nature \xff\xfe", b"102 blue", b"103 nature", b"104 unknown"]
    (root / "NUS_WID_Tags/All_Tags.txt").write_bytes(b"\n".join(lines) + b"\n")
    return root


def test_nuswide_reads_listed_tags_in_their_order(nus: Path) -> None:
    assert format_of(nus).name == "NUS-WIDE"
    corpus = read_corpus(nus)
    assert corpus.texts == ("nature blue", "blue", "nature")
    assert corpus.files[0] == "Flickr/a/0001_101.jpg"


def test_nuswide_keeps_images_with_a_frequent_concept_and_a_listed_tag(nus: Path) -> None:
    corpus = read_corpus(nus)
    assert corpus.label_names == ("dog", "sky")
    assert corpus.splits == ("train", "test", "left out", "left out")
    assert corpus.labels is not None
    assert corpus.labels[:2].tolist() == [[True, True], [False, True]]


def test_nuswide_tags_of_another_image_are_named_with_their_line(nus: Path) -> None:
    (nus / "NUS_WID_Tags/All_Tags.txt").write_text("101 blue\n103 nature\n")
    with pytest.raises(DataError, match=r"All_Tags.txt:2: found the tags of image '103'; line 2"):
        read_corpus(nus)


def test_nuswide_tags_that_end_early_are_named_with_their_line(nus: Path) -> None:
    (nus / "NUS_WID_Tags/All_Tags.txt").write_text("101 blue\n")
    with pytest.raises(DataError, match=r"All_Tags.txt:2: found the tags of image ''"):
        read_corpus(nus)


@pytest.mark.parametrize(
    ("column", "said"),
    [("1\n1\n1\n", r"Labels_sky.txt:4: 3 lines, of 4 images"), ("1\n1\nx\n1\n", r"sky.txt:3: .*x")],
)
def test_nuswide_labels_that_are_short_or_odd_are_refused(
    nus: Path, column: str, said: str
) -> None:
    (nus / "Groundtruth/AllLabels/Labels_sky.txt").write_text(column)
    with pytest.raises(DataError, match=said):
        read_corpus(nus)


def test_nuswide_without_tags_is_refused(nus: Path) -> None:
    (nus / "NUS_WID_Tags/All_Tags.txt").unlink()
    with pytest.raises(DataError, match="no NUS_WID_Tags/All_Tags.txt"):
        read_corpus(nus)


def test_karpathys_coco_takes_labels_from_instances(tmp_path: Path) -> None:
    images = [
        {"filename": f"{id}.jpg", "split": "test", "cocoid": id, "sentences": [{"raw": "a"}]}
        for id in (7, 8)
    ]
    (tmp_path / "dataset_coco.json").write_text(json.dumps({"images": images}))
    (tmp_path / "annotations").mkdir()
    boxes = [{"image_id": 8, "category_id": 44}]
    names = [{"id": 3, "name": "car"}, {"id": 44, "name": "bottle"}]
    content = json.dumps({"annotations": boxes, "categories": names})
    (tmp_path / "annotations/instances_val2014.json").write_text(content)
    corpus = read_corpus(tmp_path / "dataset_coco.json")
    assert corpus.label_names == ("car", "bottle")
    assert corpus.labels is not None and corpus.labels.tolist() == [[False] * 2, [False, True]]
