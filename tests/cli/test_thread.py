"""The walk from a recipe to a found picture, by the command alone."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.data.read_corpus import read_corpus
from deixis.paths import cache_folder

load_verbs()
ROOT = Path(__file__).parents[2]


def call(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    arguments = ("table", ROOT / "recipes/tiny.toml", "--tiny", "--runs", runs, "--json")
    return runs, json.loads(call(*arguments)), arguments


def test_a_table_has_chance_and_every_row(trained):
    _, table, _ = trained
    assert [row["label"] for row in table["rows"]] == ["chance", "VSE++", "VSE0"]
    chance, best, other = (row["seeds"][0] for row in table["rows"])
    # A random order puts a match first as often as matches are among the images.
    test = read_corpus(cache_folder() / "scenes" / "120").captions().split("test")
    share = len(test.pairs) / (len(test.texts) * len(test.files))
    assert chance["t2i_hit@1"] == pytest.approx(100 * share)
    for measured in (best, other):
        parts = [value for key, value in measured.items() if "_hit@" in key]
        assert measured["rsum"] == pytest.approx(sum(parts)) and len(parts) == 6
        assert measured["rsum"] != chance["rsum"]


def test_the_printed_numbers_are_those_of_the_run_evaluated_again(trained):
    runs, table, _ = trained
    for row, name in zip(table["rows"][1:], ("vse++-0", "vse0-0"), strict=True):
        again = json.loads(call("evaluate", runs / "tiny-tiny" / name, "--json"))["whole split"]
        for key, value in row["seeds"][0].items():
            assert again["measures"][key] == pytest.approx(value)


def test_a_finished_table_is_read_back_not_trained_again(trained):
    runs, table, arguments = trained
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*") if path.is_file()}
    assert json.loads(call(*arguments)) == table
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_run_trained_again_from_nothing_is_the_same_bit_for_bit(trained):
    runs, table, arguments = trained
    weights = runs / "tiny-tiny/vse++-0/model.safetensors"
    before = weights.read_bytes()
    shutil.rmtree(weights.parent)
    assert json.loads(call(*arguments)) == table
    assert weights.read_bytes() == before


def test_re_ranking_shows_every_column_and_ends_at_the_slow_model(trained):
    runs, table, _ = trained
    fast, slow = (runs / f"tiny-tiny/{name}-0" for name in ("vse0", "vse++"))
    shown = call("rerank", fast, slow, "--share", 0.5, "--share", 1)
    assert "…" not in shown
    assert "RSUM" in shown
    last = json.loads(call("rerank", fast, slow, "--share", 1, "--json"))[-1]
    of_slow = next(row for row in table["rows"] if row["label"] == "VSE++")["seeds"][0]
    assert last["measures"]["rsum"] == pytest.approx(of_slow["rsum"])


def test_a_library_is_indexed_searched_and_reconciled(trained, tmp_path):
    runs, _, _ = trained
    pictures = tmp_path / "pictures"
    call("data", "scenes", tmp_path / "corpus", "--images", 12)
    shutil.copytree(tmp_path / "corpus/train", pictures)
    (pictures / "broken.jpg").write_text("no picture")
    library = tmp_path / "library"
    run = runs / "tiny-tiny/vse++-0"
    report = json.loads(call("index", pictures, "--model", run, "-l", library, "--json"))
    assert report["counts"]["broken"] == 1
    found = json.loads(call("search", "a red ball", "-l", library, "-t", 3, "--json"))
    scores = [hit["score"] for hit in found["hits"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    (pictures / "broken.jpg").unlink()
    status = json.loads(call("status", "-l", library, "--json", code=3))
    assert [problem["kind"] for problem in status["problems"]] == ["missing"]


def test_data_info_counts_what_a_corpus_holds(tmp_path):
    call("data", "scenes", tmp_path / "corpus", "--images", 20)
    info = json.loads(call("data", "info", tmp_path / "corpus", "--json"))
    assert info["images"] == 20
    assert sum(info["splits"].values()) == 20
