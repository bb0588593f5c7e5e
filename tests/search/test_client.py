"""The typed client against a real server process."""

import sys
from pathlib import Path

import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "serve"))

from fake_server import fake_server
from made_library import made_library

import deixis
from deixis.errors import SearchError
from deixis.features.store.image_files import PictureBytes
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Point
from deixis.search.client import PhrasePlaced
from deixis.search.library.library import Library
from fake_encoder import FakeEncoder

TOKEN = "a token of enough characters"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = made_library(tmp_path_factory.mktemp("client"))
    with fake_server(folder, "--token", TOKEN) as (url, _):
        yield deixis.Client(url.split("/?")[0], TOKEN), folder


@pytest.fixture
def here(served, monkeypatch):
    monkeypatch.setattr("deixis.search.library.library.load_encoder", lambda _: FakeEncoder())
    monkeypatch.setattr("deixis.search.library.library.ask_running", lambda *_: None)
    with Library(served[1]) as library:
        yield library


def shape(results):
    return [(hit.id, hit.score, hit.paths, hit.band, hit.size) for hit in results.hits]


def test_a_search_over_the_wire_equals_one_here(served, here):
    client, _ = served
    assert shape(client.search("a red ball", k=7)) == shape(here.search("a red ball", k=7))
    found = client.search("a red ball", k=7, where="label:dog")
    assert shape(found) == shape(here.search("a red ball", k=7, where="label:dog"))
    assert found.searched == 10


def test_a_drawn_query_arrives_as_it_was_drawn(served, here):
    strokes = ((Point(0.1, 0.1, 0.0), Point(0.3, 0.4, float("nan"))),)
    drawing = Drawing(strokes, links=(Link(2, 5, 0),), weight=0.7)
    query = deixis.Query(text="a red ball", drawing=drawing)
    found, wanted = served[0].search(query), here.search(query)
    assert shape(found) == shape(wanted)
    assert found.text_order == wanted.text_order and found.notes == wanted.notes


def test_places_go_over_the_wire_as_they_are_given_here(served, here):
    points = {"a red ball": (0.1, 0.4, 0.5, 0.9), None: (0.7, 0.2)}
    found = served[0].search("a red ball", points=points, k=7)
    assert shape(found) == shape(here.search("a red ball", points=points, k=7))
    assert found.text_order and found.query.drawing.loose == (1,)
    with pytest.raises(SearchError, match="already holds its strokes"):
        served[0].search(found.query, points=points)


def test_pictures_are_searched_by_and_fetched(served, tmp_path):
    client, folder = served
    path = folder.parent / "pictures" / "07.png"
    (hit,) = client.search(deixis.Query(image=path, k=1)).hits
    assert hit.paths == (str(path),)
    assert client.search(picture_query(path)).hits[0].id == hit.id
    assert client.similar(hit.id, k=1).hits[0].id == hit.id
    assert client.picture(hit.id, "original") == path.read_bytes()
    (tmp_path / "small.jpg").write_bytes(client.picture(hit.id, "thumbnail"))
    with Image.open(tmp_path / "small.jpg") as small:
        assert small.size == (160, 120)


def picture_query(path):
    return deixis.Query(image=PictureBytes("sent.png", path.read_bytes()), k=1)


def test_a_hit_is_explained_word_by_word(served):
    client, _ = served
    hit = client.search("a red ball", k=1).hits[0]
    explained = client.explain("a red ball", hit.id)
    assert explained.score == pytest.approx(hit.score, abs=1e-5) and explained.rank == 1
    assert [(word.start_char, word.end_char) for word in explained.words] == [
        (0, 1),
        (2, 5),
        (6, 10),
    ]


def test_maps_of_phrases_come_with_an_explanation(monkeypatch):
    said = {
        "score": 0.5, "rank": 1, "words": [], "strokes": [0.1], "pointing_game": 62.5,
        "phrases": [{"start_char": 2, "end_char": 5, "share": 0.1, "cells": [0.25, 0.75]}],
    }  # fmt: skip
    client = deixis.Client("http://127.0.0.1:9")
    monkeypatch.setattr(client, "_json", lambda *_: said)
    explained = client.explain("a dog", "0" * 32)
    assert explained.phrases == (PhrasePlaced(2, 5, 0.1, (0.25, 0.75)),)
    assert explained.pointing_game == 62.5


def test_the_library_is_described(served):
    facts = served[0].library()
    assert facts.pictures == 40 and set(facts.labels) == {"cat", "dog"}
    assert facts.folders == (str(served[1].parent / "pictures"),)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda client: client.similar("0" * 32), "there is no picture"),
        (lambda client: client.search("x", k=100_000), "200"),
        (lambda client: client.picture("no id"), "pattern"),
    ],
)
def test_what_the_server_refuses_is_a_sentence(served, act, reason):
    with pytest.raises(SearchError, match=reason):
        act(served[0])


def test_a_wrong_token_and_a_wrong_address_are_sentences(served):
    url = served[0]._url
    with pytest.raises(SearchError, match="token"):
        deixis.Client(url, "another token, as long").library()
    with pytest.raises(SearchError, match="no answer from"):
        deixis.Client("http://127.0.0.1:9", seconds=2.0).library()
    with pytest.raises(SearchError, match="is not the address"):
        deixis.Client("localhost:8420")
