"""Every short program runs as a stranger would run it, on few images."""

import subprocess
import sys
from pathlib import Path

import examples.add_a_method
import examples.embed_search_box
import examples.own_corpus
import examples.train_aoq
import examples.train_cross_attention
import examples.train_labels
import examples.train_sets
import examples.train_trace
import examples.train_vse
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from deixis.methods.model import methods
from deixis.search.library.library import Library

EXAMPLES = Path(__file__).parents[2] / "examples"
TESTED = (
    *("cluster_demo", "local_cluster", "local_s3"),  # by tests/scale
    *("add_a_method", "calibration", "embed_search_box", "own_corpus", "scenes_sheet"),
    *("trace_failure", "train_aoq", "train_cross_attention", "train_labels", "train_sets"),
    *("train_trace", "train_vse"),
)
IMAGES = 60


def test_every_example_is_tested_and_short():
    found = {path.stem: path for path in EXAMPLES.glob("*.py") if path.stem != "__init__"}
    assert sorted(found) == sorted(TESTED)
    new = [path for name, path in found.items() if name.startswith(("train_", "own", "add", "em"))]
    assert all(len(path.read_text().splitlines()) <= 65 for path in new)


def test_one_vector_each():
    matcher = examples.train_vse.main(IMAGES)
    assert matcher.encode_text(["a red ball", "a boat"]).vectors.shape == (2, 1, 64)


def test_sets():
    assert examples.train_sets.main(IMAGES)[1:] == (4, 64)


def test_cross_attention_re_ranks():
    fast, slow, together = examples.train_cross_attention.main(IMAGES)
    assert 0 < fast <= 600 and 0 < slow <= 600 and 0 < together <= 600


def test_labels():
    assert 0 < examples.train_labels.main(IMAGES) <= 100


def test_traces():
    found = examples.train_trace.main(IMAGES)
    assert set(found) == {"with", "without"} and all(0 <= v <= 100 for v in found.values())


def test_a_second_round_moves_the_model():
    first, again = examples.train_aoq.main(IMAGES)
    assert first != again


def test_a_corpus_in_memory_is_learnt_and_searched():
    assert examples.own_corpus.main().startswith("red-left")


def test_a_method_of_ones_own_gets_a_table():
    try:
        table = examples.add_a_method.main(IMAGES)
    finally:
        methods._classes.pop("bag_of_words", None)
    assert "| bag_of_words |" in table and "| vsepp |" in table


def test_the_search_box_answers_inside_another_program(tmp_path):
    (tmp_path / "pictures").mkdir()
    for name, colour in (("sky", "skyblue"), ("grass", "green")):
        Image.new("RGB", (96, 96), colour).save(tmp_path / "pictures" / f"{name}.png")
    Library(tmp_path / "library").add(tmp_path / "pictures")
    app = examples.embed_search_box.program(tmp_path / "library")
    with TestClient(app, "http://localhost") as client:
        assert client.get("/v1/library").json()["pictures"] == 2
        assert client.get("/best", params={"text": "green grass"}).json()["file"].endswith(".png")
        assert "search" in client.get("/").text


@pytest.mark.parametrize("name", ["train_vse"])
def test_a_program_runs_from_the_command_line(name):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), str(IMAGES)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "RSUM" in done.stdout
