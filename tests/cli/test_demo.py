"""The demo ends with a library whose server answers words, and words with a trace."""

import inspect
import json
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from deixis.cli import demo as demo_verb
from deixis.cli.command import app, load_verbs
from deixis.cli.serve import serve
from deixis.data.formats.narratives.localized_narratives import Narrative, narrative_record
from deixis.data.read_corpus import read_corpus
from deixis.features.backbones.onnx_graph import cache_folder
from deixis.recipes.demonstration import scene_figures
from deixis.runs.advance import silent
from deixis.runs.find_corpus import find_corpus
from deixis.runs.run import Run
from deixis.search.encoders.load_encoder import SCENES, packaged_scenes
from deixis.search.library.library import Library
from deixis.serve.app import create_app

load_verbs()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # nowhere near a repository
        done = CliRunner().invoke(app, ["demo", str(folder), "--tiny"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    for said in ("VSE++", "held-out scenes", "right twin", "words alone", "words and trace"):
        assert said in done.output
    said = done.output.replace("\n", "")
    assert f"deixis serve --library {folder / 'library'}" in said
    chosen = inspect.signature(serve).parameters
    assert f"http://{chosen['host'].default}:{chosen['port'].default}" in said
    return folder / "library"


def test_the_page_answers_words_and_words_with_a_trace(library):
    scenes = read_corpus(cache_folder() / "scenes" / "120").narrated().split("test")
    narration = scenes.narrations[0]
    traces = [[{"x": p.x, "y": p.y, "t": p.t} for p in stroke] for stroke in narration.strokes]
    timed = [
        {"utterance": w.text, "start_time": w.start, "end_time": w.end} for w in narration.words
    ]
    asked = {"text": narration.text, "traces": traces, "timed_text": timed, "trace_weight": 1.0}
    with TestClient(create_app(library), "http://localhost") as client:
        about = client.get("/v1/library").json()
        assert (about["pictures"], about["reads_traces"]) == (len(scenes.files), True)
        words = client.post("/v1/search", json={"text": narration.text}).json()
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
        assert page.status_code == 200 and "Point where it is" in page.text


def test_a_line_of_localized_narratives_is_a_query_of_the_command(library, tmp_path):
    scenes = read_corpus(cache_folder() / "scenes" / "120").narrated().split("test")
    one = Narrative("x", scenes.narrations[0])
    (tmp_path / "narratives.jsonl").write_text(json.dumps(narrative_record(one)) + "\n")
    asked = ["search", "--library", str(library), "--json"]
    pointed, said = (
        json.loads(CliRunner().invoke(app, [*asked, *how], catch_exceptions=False).stdout)
        for how in (
            ["--narration", str(tmp_path / "narratives.jsonl")],
            [scenes.narrations[0].text],
        )
    )
    assert pointed["query"]["text"] == said["query"]["text"]
    assert pointed["text_order"] == [hit["id"] for hit in said["hits"]]
    assert [hit["score"] for hit in pointed["hits"]] != [hit["score"] for hit in said["hits"]]


def test_at_a_terminal_the_demo_ends_by_serving(library, monkeypatch):
    served = []
    monkeypatch.setattr("deixis.cli.serve.serve", served.append)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    demo_verb.open_search_box(library)
    assert served == [str(library)]


def test_the_library_is_searched_with_the_model_for_scenes(library):
    header = json.loads((library / "generation-1" / "header.json").read_text())
    assert header["source"] == "deixis:scenes"


@pytest.mark.slow  # draws the demo's 1,600 scenes
def test_captions_of_scenes_that_are_there_are_not_called_nothing_that_fits(tmp_path):
    data = replace(Run(packaged_scenes()).data, size=1600)
    scenes = find_corpus(data, silent).split("test")
    with Library(tmp_path / "library", SCENES) as library:
        library.add(scenes.path(0).parent)
        asked = [library.search(text, k=1) for text in scenes.texts[::20]]
        made_up = library.search("gorp fenwick dralla", k=1)
    called = [found.hits[0].band == "rest" for found in asked]
    assert len(called) > 100 and sum(called) <= len(called) / 10
    assert made_up.hits[0].band == "rest"


@pytest.mark.slow  # draws the demo's 1,600 scenes
def test_the_model_for_scenes_finds_held_out_ones():
    data = replace(Run(packaged_scenes()).data, size=1600)
    found = scene_figures(data)
    assert found.pictures == 320
    assert found.by_captions[0] >= 65 and found.by_captions[1] >= 93
    assert found.by_pointing[0] >= 85 and found.by_pointing[1] >= 97
    assert found.right_twin >= 90
