import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deixis.data.corpus import Corpus
from deixis.data.read_corpus import read_corpus
from deixis.errors import DataError


def pictures(root: Path, *files: str) -> Path:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4)).save(root / file)
    return root


def rows(path: Path, *records: dict[str, object]) -> None:
    path.write_text("\n".join(json.dumps(record) for record in records))


def test_pictures_alone_are_a_corpus_without_texts(tmp_path: Path) -> None:
    corpus = read_corpus(pictures(tmp_path, "b.png", "holiday/a.JPG", "test/c.webp"))
    assert corpus.files == ("b.png", "holiday/a.JPG", "test/c.webp")
    assert corpus.splits == ("train", "train", "test")
    assert corpus.texts == ()
    assert corpus.pairs.shape == (0, 2)
    assert corpus.labels is None
    assert corpus.twins is None


@pytest.mark.parametrize("key", ["caption", "text"])
def test_one_caption_per_image_is_read(tmp_path: Path, key: str) -> None:
    pictures(tmp_path, "train/a.png", "validation/b.png")
    rows(tmp_path / "train" / "metadata.jsonl", {"file_name": "a.png", key: "one"})
    rows(tmp_path / "validation" / "metadata.jsonl", {"file_name": "b.png", key: "two"})
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ("one", "two")
    assert corpus.splits == ("train", "val")
    assert corpus.pairs.tolist() == [[0, 0], [1, 1]]


def test_csv_with_quotes_and_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    pictures(tmp_path, "a.png", "sub/b.png")
    content = 'file_name,text,label\na.png,"red, ""big""",car\nsub/b.png,two,boat\n'
    (tmp_path / "metadata.csv").write_text(content, encoding="utf-8-sig")
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ('red, "big"', "two")
    assert corpus.label_names == ("boat", "car")
    assert corpus.labels is not None
    assert corpus.labels.tolist() == [[False, True], [True, False]]


def test_a_text_may_fit_other_images(tmp_path: Path) -> None:
    pictures(tmp_path, "a.png", "b.png")
    rows(
        tmp_path / "metadata.jsonl",
        {"file_name": "a.png", "captions": ["x", "y"], "also": [["b.png"], []]},
        {"file_name": "b.png", "captions": ["z"], "also": [[]]},
    )
    positives = read_corpus(tmp_path).positives()
    assert positives.tolist() == [[True, True, False], [True, False, True]]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"file_name": "c.png"}, "there is no picture .*c.png"),
        ({"file_name": "../a.png"}, "the path .* leaves the corpus folder"),
        ({"file_name": "a.png"}, "a.png was listed before, at .*metadata.jsonl:1"),
        ({"image": "a.png"}, "no 'file_name'; found: image"),
        ({"file_name": "b.png", "text": 4}, "'text' holds a int"),
        ({"file_name": "b.png", "captions": ["x"], "also": []}, "1 texts but 0 lists"),
        ({"file_name": "b.png", "text": "x", "also": [["q.png"]]}, "'also' names q.png"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    tmp_path: Path, record: dict[str, object], message: str
) -> None:
    pictures(tmp_path, "a.png", "b.png")
    rows(tmp_path / "metadata.jsonl", {"file_name": "a.png", "text": "one"}, record)
    with pytest.raises(DataError, match=f"metadata.jsonl:2: {message}"):
        read_corpus(tmp_path)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (pictures(tmp_path, "a.png") / "metadata.jsonl").write_text('{"file_name": "a.png"}\n{oh\n')
    with pytest.raises(DataError, match=r"metadata.jsonl:2: not a line of JSON"):
        read_corpus(tmp_path)


def test_an_empty_or_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no picture"):
        read_corpus(tmp_path)
    with pytest.raises(DataError, match="there is no corpus at"):
        read_corpus(tmp_path / "nowhere")


def test_a_file_of_no_known_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"")
    with pytest.raises(DataError, match="no known format; known: .*folder of pictures"):
        read_corpus(tmp_path / "x.bin")


@pytest.fixture
def narrated(tmp_path: Path) -> Corpus:
    pictures(tmp_path, "train/000000000042.jpg", "train/7.jpg", "test/8.jpg")
    rows(
        tmp_path / "coco_val_localized_narratives.jsonl",
        {"image_id": "8", "caption": "eight"},
        {"image_id": "999", "caption": "of a picture that is not here"},
        {"image_id": "42", "caption": "forty-two"},
        {"image_id": "train/7.jpg", "caption": "seven", "traces": [[{"x": 0, "y": 1, "t": 2}]]},
    )
    return read_corpus(tmp_path)


def test_narratives_find_their_images_by_id(narrated: Corpus) -> None:
    owners = {narrated.texts[t]: narrated.files[i] for t, i in enumerate(narrated.owners)}
    assert owners == {
        "eight": "test/8.jpg",
        "forty-two": "train/000000000042.jpg",
        "seven": "train/7.jpg",
    }


def test_narrations_stay_with_their_texts(narrated: Corpus) -> None:
    train = narrated.split("train").keep(texts=np.array([False, True]))
    assert train.texts == ("seven",)
    assert list(train.narrations) == [0]
    assert train.narrations[0].strokes[0][0].t == 2.0


def test_narratives_of_other_images_are_refused(tmp_path: Path) -> None:
    pictures(tmp_path, "a.png")
    rows(tmp_path / "narratives.jsonl", {"image_id": "zebra", "caption": "x"})
    with pytest.raises(DataError, match=r"narratives.jsonl: no image_id, as 'zebra'"):
        read_corpus(tmp_path)


def test_an_id_that_fits_two_pictures_is_refused_but_a_whole_name_never(tmp_path: Path) -> None:
    pictures(tmp_path, "1.png", "sub/1.png")
    whole = [{"image_id": "1.png", "caption": "x"}, {"image_id": "sub/1.png", "caption": "y"}]
    rows(tmp_path / "narratives.jsonl", *whole)
    assert read_corpus(tmp_path).owners.tolist() == [0, 1]
    rows(tmp_path / "narratives.jsonl", *whole, {"image_id": "1", "caption": "z"})
    with pytest.raises(DataError, match=r"narratives.jsonl:3: '1' fits several pictures"):
        read_corpus(tmp_path)


def test_reading_and_writing_corpora_loads_no_torch() -> None:
    rooms = ("read_corpus", "simulated.scenes.place_blind_reader", "regions")
    modules = ", ".join(f"deixis.data.{room}" for room in rooms)
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
