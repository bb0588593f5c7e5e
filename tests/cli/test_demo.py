"""The demo ends with a library whose server answers words, and words with a trace."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from deixis.cli import demo as demo_verb
from deixis.cli.app import app, load_verbs
from deixis.data.narratives import Narrative, narrative_record
from deixis.data.read import read_corpus
from deixis.features.graph import cache_folder
from deixis.recipes.recipe import Recipe
from deixis.recipes.run import slug
from deixis.serve.app import create_app

load_verbs()
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        done = CliRunner().invoke(app, ["demo", str(folder), "--tiny"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    claim = ("text + trace", "trace of another query", "boxes shuffled", "blind to place")
    for said in ("VSE++", *claim, "words alone", "words and trace"):
        assert said in done.output
    assert f"deixis serve --library {folder / 'library'}" in done.output.replace("\n", "")
    return folder / "library"


def test_the_page_answers_words_and_words_with_a_trace(library):
    scenes = read_corpus(cache_folder() / "scenes" / "120").narrated().split("test")
    told = scenes.narrations[0]
    traces = [[{"x": p.x, "y": p.y, "t": p.t} for p in stroke] for stroke in told.strokes]
    timed = [{"utterance": w.text, "start_time": w.start, "end_time": w.end} for w in told.words]
    asked = {"text": told.text, "traces": traces, "timed_text": timed, "trace_weight": 1.0}
    with TestClient(create_app(library), "http://localhost") as client:
        about = client.get("/v1/library").json()
        assert (about["pictures"], about["reads_traces"]) == (len(scenes.files), True)
        words = client.post("/v1/search", json={"text": told.text}).json()
        pointed = client.post("/v1/search", json=asked).json()
        assert [hit["id"] for hit in words["hits"]] == pointed["text_order"]
        assert pointed["hits"][0]["text_score"] is not None
        assert [hit["score"] for hit in pointed["hits"]] != [hit["score"] for hit in words["hits"]]
        best = pointed["hits"][0]
        why = client.post("/v1/explain", json={**asked, "id": best["id"]}).json()
        assert why["score"] == pytest.approx(best["score"], abs=1e-4)
        assert why["text_score"] == pytest.approx(best["text_score"], abs=1e-4)
        assert why["method"] == "removal" and len(why["boxes"]) == len(why["regions"]) > 4
        page = client.get("/")
        assert page.status_code == 200 and "Point at where it is" in page.text


def test_a_line_of_localized_narratives_is_a_query_of_the_command(library, tmp_path):
    scenes = read_corpus(cache_folder() / "scenes" / "120").narrated().split("test")
    one = Narrative("x", scenes.narrations[0])
    (tmp_path / "told.jsonl").write_text(json.dumps(narrative_record(one)) + "\n")
    asked = ["search", "--library", str(library), "--json"]
    told, said = (
        json.loads(CliRunner().invoke(app, [*asked, *how], catch_exceptions=False).stdout)
        for how in (["--narration", str(tmp_path / "told.jsonl")], [scenes.narrations[0].text])
    )
    assert told["query"]["text"] == said["query"]["text"]
    assert told["text_order"] == [hit["id"] for hit in said["hits"]]
    assert [hit["score"] for hit in told["hits"]] != [hit["score"] for hit in said["hits"]]


def test_at_a_terminal_the_demo_ends_by_serving(library, monkeypatch):
    served = []
    monkeypatch.setattr("deixis.cli.serve.serve", served.append)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    demo_verb._serve(library)
    assert served == [library]


def test_the_librarys_run_is_the_pointing_one(library):
    header = json.loads((library / "generation-1" / "header.json").read_text())
    assert "pointing" in header["source"]
    served = Recipe.load(ROOT / demo_verb.POINTING).rows[-1]
    assert slug(served.label) in header["source"]
    assert served.train.also_bare  # so that queries without a trace are answered too
