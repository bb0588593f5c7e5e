"""Nothing may come out as a number that is silently of something else."""

import json
import os

import numpy as np
import pytest
from PIL import Image

from deixis.data.check_corpus import check_corpus
from deixis.data.corpus import Corpus
from deixis.data.corpus_features import image_features
from deixis.data.read_corpus import read_corpus
from deixis.errors import DataError, RecipeError, RunError
from deixis.methods.vsepp import VSEPP
from deixis.runs.data_spec import DataSpec
from deixis.runs.matcher import Matcher, load
from deixis.runs.prepare import prepare
from deixis.runs.run_config import RunConfig
from deixis.training.spec import TrainSpec
from deixis.types import Sizes


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))


def corpus_of(root, *files) -> Corpus:
    texts = tuple(f"text {file}" for file in files)
    places = np.arange(len(files))
    pairs = np.stack([places, places], axis=1)
    return Corpus("made", root, files, texts, places, pairs, ("train",) * len(files))


def bmp(path, colour):
    facts = path.stat() if path.exists() else None
    Image.new("RGB", (32, 32), colour).save(path)
    if facts is not None:
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def features(corpus):
    regions, _ = image_features(corpus, "lite0", lambda done, total: None)
    return np.asarray(regions.values), np.diff(regions.offsets).tolist()


def test_a_file_swapped_at_equal_name_size_and_time_gets_features_of_its_own(tmp_path):
    corpus = corpus_of(tmp_path, "a.bmp", "b.bmp")
    bmp(tmp_path / "a.bmp", "red")
    bmp(tmp_path / "b.bmp", "blue")
    red, _ = features(corpus)
    again, _ = features(corpus)
    bmp(tmp_path / "a.bmp", "green")
    green, _ = features(corpus)
    assert np.array_equal(red, again)
    assert not np.array_equal(red, green)


def test_a_repaired_file_does_not_stay_broken(tmp_path):
    corpus = corpus_of(tmp_path, "a.bmp", "b.bmp")
    bmp(tmp_path / "a.bmp", "red")
    bmp(tmp_path / "b.bmp", "red")
    whole = (tmp_path / "b.bmp").read_bytes()
    (tmp_path / "b.bmp").write_bytes(bytes(len(whole)))
    assert features(corpus)[1][1] == 0
    (tmp_path / "b.bmp").write_bytes(whole)
    assert features(corpus)[1][1] > 0


def test_a_run_without_its_vocabulary_is_refused(tmp_path):
    sizes = Sizes(region=8, vocabulary=30)
    config = RunConfig({"name": "vsepp", "dim": 16, "word_dim": 8}, sizes, "lite0", "words")
    Matcher(VSEPP(dim=16, word_dim=8).model(sizes), config, None).save(tmp_path / "run")
    with pytest.raises(RunError, match="has no vocabulary.json"):
        load(tmp_path / "run")


@pytest.mark.parametrize(
    "wrong",
    [
        {"val": "test"},
        {"train": "test"},
        {"train": "dev", "val": "validation"},
        {"test": "train"},
        {"holdout": -1},
        {"size": 0},
        {"window": float("nan")},
    ],
)
def test_splits_that_overlap_and_negative_sizes_are_refused(wrong):
    with pytest.raises(RecipeError, match="data"):
        DataSpec(**wrong)


def test_a_holdout_does_not_join_a_split_that_is_there(tmp_path):
    rows = []
    for split in ("train", "val", "test"):
        (tmp_path / split).mkdir()
        for number in range(3):
            bmp(tmp_path / split / f"{number}.bmp", (number * 60, 0, 0))
            row = {"file_name": f"{split}/{number}.bmp", "text": f"a {number}", "split": split}
            rows.append(json.dumps(row))
    (tmp_path / "metadata.jsonl").write_text("\n".join(rows))
    with pytest.raises(RecipeError, match="data.holdout would join"):
        prepare(DataSpec(corpus=str(tmp_path), holdout=1), lambda *_: None)


@pytest.mark.parametrize(
    "wrong",
    [{"clip": -1.0}, {"clip": 0.0}, {"lr": float("nan")}, {"lr": -1.0}, {"lr": float("inf")}]
    + [{"length": 0}, {"length": -5}, {"length": "0 epochs"}, {"weight_decay": -0.1}]
    + [{"drop_words": 1.5}, {"mask": -0.1}, {"chunk": -1}, {"rates": {"text": float("nan")}}],
)
def test_training_options_that_learn_nothing_are_refused(wrong):
    with pytest.raises(RecipeError, match=f"train.{next(iter(wrong))}"):
        TrainSpec(**wrong)


def test_coco_ids_that_occur_twice_are_reported(tmp_path):
    for name in ("a.jpg", "b.jpg"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    images = [{"id": 1, "file_name": "a.jpg"}, {"id": 1, "file_name": "b.jpg"}]
    texts = [{"id": 7, "image_id": 1, "caption": "a dog"}]
    path = tmp_path / "captions_train2017.json"
    path.write_text(json.dumps({"images": images, "annotations": texts}))
    with pytest.raises(DataError, match="image 1 was listed before"):
        read_corpus(path)
    found = check_corpus(path)
    assert "duplicate image" in [problem.kind for problem in found.problems]
