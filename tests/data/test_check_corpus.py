import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from deixis.cli import data as data_verbs
from deixis.data.check_corpus import check_corpus


def picture(path: Path, shade: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), (shade, 0, 0)).save(path)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """An image folder damaged in ten ways, each on a known line."""
    for shade, name in enumerate(["a", "b", "c", "d", "e", "f"]):
        picture(tmp_path / "train" / f"{name}.png", shade * 20)
    picture(tmp_path / "test" / "copy.png", 0)  # the picture of train/a.png
    (tmp_path / "train" / "broken.png").write_text("not a picture")
    lines = [
        {"file_name": "a.png", "captions": ["fine"], "labels": ["sky"]},
        {"file_name": "gone.png", "captions": ["of a missing picture"]},
        {"file_name": "broken.png", "captions": ["of a broken one"]},
        {"file_name": "b.png", "captions": ["good", "b'a dog'"]},
        {"file_name": "c.png", "captions": ["  "]},
        {"captions": ["of no picture"]},
        {"file_name": "d.png", "captions": ["x"], "labels": ["ufo"]},
        b'{"file_name": "e.png", "captions": ["ca\xf1on"]}',
        {"file_name": "../../secret.png", "captions": ["y"]},
    ]
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    (tmp_path / "train" / "metadata.jsonl").write_bytes(b"\n".join(raw))
    (tmp_path / "test" / "metadata.jsonl").write_text('{"file_name": "copy.png", "text": "z"}')
    (tmp_path / "corpus.json").write_text(json.dumps({"label_names": ["sky", "sea"]}))
    values = np.ones((4, 3), np.float16)
    values[2, 1] = np.nan
    (tmp_path / "regions").mkdir()
    np.save(tmp_path / "regions" / "values.npy", values)
    return tmp_path


WANTED = {
    "missing image": "train/metadata.jsonl:2",
    "unreadable image": "train/metadata.jsonl:3",
    "byte-string text": "train/metadata.jsonl:4, text 2",
    "empty text": "train/metadata.jsonl:5, text 1",
    "text without image": "train/metadata.jsonl:6",
    "label out of range": "train/metadata.jsonl:7",
    "not UTF-8": "train/metadata.jsonl:8",
    "path outside": "train/metadata.jsonl:9",
    "duplicate image": "train/metadata.jsonl:1",
    "not finite": "regions/values.npy, row 2",
}


def test_ten_kinds_of_damage_are_all_named_with_file_and_line(damaged: Path) -> None:
    report = check_corpus(damaged)
    found = {p.kind: p.where.removeprefix(f"{damaged}/") for p in report.problems}
    assert found == WANTED
    assert len(report.problems) == len(WANTED)


def test_the_verb_says_how_many_of_which_kind_and_exits_with_3(damaged: Path) -> None:
    ran = CliRunner().invoke(data_verbs.data, ["check", str(damaged), "--json"])
    assert ran.exit_code == 3
    problems = json.loads(ran.stdout)["problems"]
    assert Counter(problem["kind"] for problem in problems) == dict.fromkeys(WANTED, 1)
    ran = CliRunner().invoke(data_verbs.data, ["check", str(damaged)])
    last = ran.stdout.strip().splitlines()[-1]
    assert last.startswith("7 images, 8 texts: 1 ") and "1 not UTF-8" in last


def test_a_sound_corpus_has_no_problem(scenes_root: Path) -> None:
    report = check_corpus(scenes_root)
    assert (report.images, report.problems) == (100, [])
    assert CliRunner().invoke(data_verbs.data, ["check", str(scenes_root)]).exit_code == 0


def test_a_table_names_the_line_of_every_text(tmp_path: Path) -> None:
    picture(tmp_path / "a.png", 1)
    content = b"filepath,title\na.png,fine\n,lost\na.png,b'x'\na.png,ca\xf1on\na.png,\ngone.png,q\n"
    (tmp_path / "t.csv").write_bytes(content)
    found = {
        (p.kind, p.where.rpartition(":")[2]) for p in check_corpus(tmp_path / "t.csv").problems
    }
    assert found == {
        ("text without image", "3"),
        ("byte-string text", "4"),
        ("not UTF-8", "5"),
        ("empty text", "6"),
        ("missing image", "7"),
    }


def test_precomputed_features_need_no_pictures_but_sound_arrays(tmp_path: Path) -> None:
    array = np.ones((3, 2, 4), np.float32)
    array[1, 0, 0] = np.inf
    np.save(tmp_path / "train_ims.npy", array)
    (tmp_path / "train_caps.txt").write_text("one\n\nthree\n")
    report = check_corpus(tmp_path)
    assert [(p.kind, p.where.removeprefix(f"{tmp_path}/")) for p in report.problems] == [
        ("empty text", "train_caps.txt:2"),
        ("not finite", "train_ims.npy, row 1"),
    ]


def test_a_file_that_stops_its_reader_is_a_problem_too(tmp_path: Path) -> None:
    picture(tmp_path / "a.png", 1)
    images = '{"images": [{"filename": "a.png", "sentences": [{"raw": "x"}]}, {"file'
    (tmp_path / "d.json").write_text(images)
    problems = check_corpus(tmp_path / "d.json").problems
    assert [(p.kind, p.where) for p in problems] == [("malformed", f"{tmp_path}/d.json:1")]
