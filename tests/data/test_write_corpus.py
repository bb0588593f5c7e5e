from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from deixis.cli import data as data_verbs
from deixis.data.corpus import Corpus
from deixis.data.read_corpus import read_corpus
from deixis.data.write_corpus import write_imagefolder, write_karpathy
from deixis.errors import DataError


def facts(corpus: Corpus) -> dict[str, object]:
    """What must survive, by content: row numbers and file names may change."""
    images = [corpus.path(i).read_bytes() for i in range(len(corpus.files))]
    positives = corpus.positives()
    texts = {
        (text, frozenset(images[i] for i in np.flatnonzero(positives[:, t])))
        for t, text in enumerate(corpus.texts)
    }
    narrations = {(corpus.narrations[t], images[corpus.owners[t]]) for t in corpus.narrations}
    labels = [] if corpus.labels is None else corpus.labels.tolist()
    twins = [] if corpus.twins is None else corpus.twins.tolist()
    each = zip(images, corpus.splits, labels, twins, strict=True)
    return {
        "texts": texts,
        "narrations": narrations,
        "images": {(image, split, *label, *twin) for image, split, label, twin in each},
        "names": corpus.label_names,
    }


def test_an_image_folder_keeps_everything(scenes_root: Path, tmp_path: Path) -> None:
    corpus = read_corpus(scenes_root)
    assert write_imagefolder(corpus, tmp_path / "copy") == []
    assert facts(read_corpus(tmp_path / "copy")) == facts(corpus)


def test_karpathys_json_keeps_everything_but_traces(scenes_root: Path, tmp_path: Path) -> None:
    write_imagefolder(read_corpus(scenes_root), tmp_path / "copy")
    corpus = read_corpus(tmp_path / "copy")
    lost = write_karpathy(corpus, tmp_path / "dataset_scenes.json")
    assert lost == ["200 narrations keep their texts but lose times and traces"]
    wanted = facts(corpus) | {"narrations": set()}
    assert facts(read_corpus(tmp_path / "dataset_scenes.json")) == wanted


def test_pictures_of_one_name_keep_apart_and_ids_stay(tmp_path: Path) -> None:
    for folder, shade in (("x", 1), ("y", 2)):
        (tmp_path / "old" / folder).mkdir(parents=True)
        Image.new("RGB", (4, 4), (shade, 0, 0)).save(tmp_path / "old" / folder / "1.png")
    corpus = Corpus(
        "pair",
        tmp_path / "old",
        ("x/1.png", "y/1.png"),
        ("one", "two", "three"),
        np.array([0, 1, 1]),
        np.array([[0, 0], [1, 1], [1, 2], [0, 2]]),
        ("testall", "testall"),
        image_ids=np.array([5, 6]),
        text_ids=np.array([50, 60, 61]),
    )
    write_imagefolder(corpus, tmp_path / "new")
    for path in (tmp_path / "new", tmp_path / "d.json"):
        if path.suffix:
            write_karpathy(read_corpus(tmp_path / "new"), path)
        back = read_corpus(path)
        assert back.splits == ("testall", "testall")
        assert back.texts == corpus.texts
        assert np.array_equal(back.positives(), corpus.positives())
        assert back.image_ids is not None and back.image_ids.tolist() == [5, 6]
        assert back.text_ids is not None and back.text_ids.tolist() == [50, 60, 61]


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("filepath,title\ngone.png,x\n")
    with pytest.raises(DataError, match="there is no such picture to write"):
        write_imagefolder(read_corpus(tmp_path / "t.csv"), tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
    (tmp_path / "new").mkdir()
    with pytest.raises(DataError, match="exists already"):
        write_imagefolder(read_corpus(tmp_path / "t.csv"), tmp_path / "new")


def test_karpathys_json_must_lie_above_the_pictures(scenes_root: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not lie in .* or above it"):
        write_karpathy(read_corpus(scenes_root), tmp_path / "d.json")


def test_the_verbs_convert_and_count(scenes_root: Path, tmp_path: Path) -> None:
    run = CliRunner()
    ran = run.invoke(data_verbs.data, ["convert", str(scenes_root), str(tmp_path / "copy")])
    assert ran.exit_code == 0 and ran.stdout.strip() == str(tmp_path / "copy")
    arguments = ["convert", str(tmp_path / "copy"), str(tmp_path / "d.json"), "--to", "karpathy"]
    assert "lose times and traces" in run.invoke(data_verbs.data, arguments).stdout
    printed = run.invoke(data_verbs.data, ["info", str(tmp_path / "d.json")])
    assert "Karpathy's JSON" in printed.stdout and "'test': 20" in printed.stdout
