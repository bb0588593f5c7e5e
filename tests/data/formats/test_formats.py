import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deixis.data.corpus import Corpus
from deixis.data.read_corpus import FORMATS, format_of, read_corpus
from deixis.errors import DataError

TRACES = Path(__file__).parents[2] / "golden" / "trace"


def pictures(root: Path, *files: str) -> None:
    for number, file in enumerate(files):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4), (number, 0, 0)).save(root / file)


def texts_of(corpus: Corpus, file: str) -> list[str]:
    return [corpus.texts[t] for t, i in enumerate(corpus.owners) if corpus.files[i] == file]


def karpathy_image(name: str, split: str, *texts: str, **more: object) -> dict[str, object]:
    sentences = [{"raw": text, "tokens": text.split(), "sentid": i} for i, text in enumerate(texts)]
    return {"filename": name, "split": split, "sentences": sentences, **more}


def test_every_format_has_a_name_of_its_own() -> None:
    assert len({known.name for known in FORMATS}) == len(FORMATS) == 12


def test_karpathys_json_is_read_with_ids_and_restval_trains(tmp_path: Path) -> None:
    pictures(tmp_path, "images/val2014/a.png", "images/val2014/b.png")
    images = [
        karpathy_image("a.png", "restval", "one", "two", filepath="val2014", cocoid=42),
        karpathy_image("b.png", "test", "três", filepath="val2014", cocoid=7),
    ]
    path = tmp_path / "dataset_coco.json"
    path.write_text(json.dumps({"dataset": "coco", "images": images}, ensure_ascii=False))
    corpus = read_corpus(path)
    assert corpus.name == "coco"
    assert corpus.files == ("images/val2014/a.png", "images/val2014/b.png")
    assert corpus.splits == ("train", "test")
    assert texts_of(corpus, corpus.files[1]) == ["três"]
    assert corpus.image_ids is not None and corpus.image_ids.tolist() == [42, 7]
    assert corpus.text_ids is not None and corpus.text_ids.tolist() == [0, 1, 0]
    test = corpus.split("test")
    assert test.image_ids is not None and test.image_ids.tolist() == [7]


def test_a_broken_image_of_karpathys_json_is_named_with_its_line(tmp_path: Path) -> None:
    good = json.dumps(karpathy_image("a.png", "train", "x"))
    (tmp_path / "d.json").write_text('{"images": [\n' + good + ',\n{"filename": "b.png"}]}')
    with pytest.raises(DataError, match=r"d.json:3 \(images\[1\]\): not an image with sentences"):
        read_corpus(tmp_path / "d.json")


@pytest.fixture
def coco(tmp_path: Path) -> Path:
    pictures(tmp_path, "val2017/1.png", "val2017/2.png")
    folder = tmp_path / "annotations"
    folder.mkdir()
    images = [{"id": 1, "file_name": "1.png"}, {"id": 2, "file_name": "2.png"}]
    captions = [
        {"image_id": 2, "id": 21, "caption": "two"},
        {"image_id": 1, "id": 11, "caption": "one"},
        {"image_id": 2, "id": 22, "caption": "zwei"},
    ]
    boxes = [{"image_id": 2, "category_id": 44}, {"image_id": 2, "category_id": 3}]
    names = [{"id": 3, "name": "car"}, {"id": 44, "name": "bottle"}]
    content = {"info": {}, "images": images, "annotations": captions}
    (folder / "captions_val2017.json").write_text(json.dumps(content))
    content = {"annotations": boxes, "categories": names, "images": images}
    (folder / "instances_val2017.json").write_text(json.dumps(content))
    return tmp_path


def test_coco_captions_come_with_instances_as_labels(coco: Path) -> None:
    corpus = read_corpus(coco)
    assert corpus.files == ("val2017/1.png", "val2017/2.png")
    assert corpus.splits == ("val", "val")
    assert texts_of(corpus, "val2017/2.png") == ["two", "zwei"]
    assert corpus.label_names == ("car", "bottle")
    assert corpus.labels is not None and corpus.labels.tolist() == [[False] * 2, [True] * 2]
    assert corpus.text_ids is not None and corpus.text_ids.tolist() == [11, 21, 22]
    alone = read_corpus(coco / "annotations" / "captions_val2017.json")
    assert alone.texts == corpus.texts


def test_a_caption_of_no_image_is_refused(coco: Path) -> None:
    path = coco / "annotations" / "captions_val2017.json"
    content = json.loads(path.read_text())
    content["annotations"].append({"image_id": 9, "id": 91, "caption": "lost"})
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"json:1 \(annotations\[3\]\): there is no image 9"):
        read_corpus(coco)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'filepath,title\na.png,"one, two"\nb.png,three\na.png,four\n'),
        ("a.tsv", "filepath\ttitle\na.png\tone, two\nb.png\tthree\na.png\tfour\n"),
        (
            "a.csv",
            "image_name| comment_number| comment\n"
            "a.png| 0| one, two\nb.png| 0| three\na.png| 1| four\n",
        ),
    ],
)
def test_tables_are_read_by_the_names_of_their_columns(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    corpus = read_corpus(tmp_path / name)
    assert corpus.files == ("a.png", "b.png")
    assert texts_of(corpus, "a.png") == ["one, two", "four"]


def test_a_table_may_name_splits_and_labels(tmp_path: Path) -> None:
    content = "filepath,title,split,labels\na.png,x,dev,sky sea\nb.png,y,train,sky\n"
    (tmp_path / "a.csv").write_text(content)
    corpus = read_corpus(tmp_path / "a.csv")
    assert corpus.splits == ("val", "train")
    assert corpus.label_names == ("sea", "sky")


def test_a_quote_left_open_is_refused_not_swallowed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('filepath,title\na.png,"one\nb.png,two\n')
    with pytest.raises(DataError, match=r"a.csv:3: not a row of the table"):
        read_corpus(tmp_path / "a.csv")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    pictures(tmp_path, "im1.png", "im2.png", "im3.png")
    (tmp_path / "images.txt").write_text("im1.png\ttrain\nim2.png\ttrain\nim3.png\ttest\n")
    (tmp_path / "labels.txt").write_text("0 2\n\n1\n")
    (tmp_path / "label_names.txt").write_text("animals\nsky\nnight\n")
    (tmp_path / "tags.txt").write_text("dog park\ndog park\nstars\n")
    return tmp_path


def test_a_labelled_corpus_shares_texts_of_images_tagged_alike(labelled: Path) -> None:
    corpus = read_corpus(labelled)
    assert corpus.label_names == ("animals", "sky", "night")
    assert corpus.labels is not None
    assert corpus.labels.tolist() == [[True, False, True], [False] * 3, [False, True, False]]
    assert corpus.positives().tolist() == [
        [True, True, False],
        [True, True, False],
        [False, False, True],
    ]
    assert corpus.splits == ("train", "train", "test")


def test_a_labelled_corpus_may_have_captions_instead_of_tags(labelled: Path) -> None:
    (labelled / "tags.txt").unlink()
    (labelled / "captions.txt").write_text("a dog\ta park\n\nnight\n")
    corpus = read_corpus(labelled)
    assert corpus.owners.tolist() == [0, 0, 2]


def test_a_label_out_of_range_is_refused(labelled: Path) -> None:
    (labelled / "labels.txt").write_text("0 3\n\n1\n")
    with pytest.raises(DataError, match=r"labels.txt:1: label 3 is not a number below 3"):
        read_corpus(labelled)


def test_a_photo_corpus_is_read(tmp_path: Path) -> None:
    pictures(tmp_path, "images/a.png", "images/b.png")
    lines = [
        {"file": "a.png", "split": "train", "width": 4, "captions": ["one .", "two ."]},
        {"file": "b.png", "split": "val", "captions": ["three ."]},
    ]
    (tmp_path / "captions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    corpus = read_corpus(tmp_path)
    assert format_of(tmp_path).name == "photo corpus"
    assert corpus.files == ("images/a.png", "images/b.png")
    assert corpus.splits == ("train", "val")
    assert corpus.owners.tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", ["vidln_real_lnformat.jsonl", "edge_cases_lnformat.jsonl"])
def test_a_file_of_narratives_is_a_corpus_of_its_own(name: str) -> None:
    corpus = read_corpus(TRACES / name)
    assert (
        len(corpus.narrations) == len(corpus.texts) == len((TRACES / name).read_text().split("\n{"))
    )
    assert all(corpus.narrations[text].text == corpus.texts[text] for text in corpus.narrations)


def test_narratives_find_pictures_below_their_folder(tmp_path: Path) -> None:
    pictures(tmp_path, "val2017/000000000042.png")
    records = [{"image_id": image, "caption": f"of {image}"} for image in ("42", "77", "42")]
    path = tmp_path / "coco_val_localized_narratives.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    corpus = read_corpus(path)
    assert corpus.files == ("val2017/000000000042.png", "77.jpg")
    assert corpus.owners.tolist() == [0, 1, 0]
    assert corpus.splits == ("val", "val")


@pytest.mark.parametrize("file", ["../a.png", "/etc/a.png", "x/../../a.png"])
def test_a_path_that_leaves_the_corpus_is_refused(tmp_path: Path, file: str) -> None:
    (tmp_path / "a.csv").write_text(f"filepath,title\n{file},x\n")
    with pytest.raises(DataError, match=r"a.csv:2: the path .* leaves the corpus folder"):
        read_corpus(tmp_path / "a.csv")


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    np.save(tmp_path / "train_ims.npy", np.ones((2, 1, 2), np.float32))
    (tmp_path / "train_caps.txt").write_bytes(b"one\nca\xf1on\n")
    with pytest.raises(DataError, match=r"train_caps.txt:2: the text is not UTF-8"):
        read_corpus(tmp_path)
    (tmp_path / "d.json").write_bytes(b'{"images": ["ca\xf1on"]}')
    with pytest.raises(DataError, match=r"d.json: the text is not UTF-8"):
        read_corpus(tmp_path / "d.json")
