import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from fastapi.testclient import TestClient
from made_library import made_library
from speaking import spoken

from deixis.serve.app import create_app
from deixis.serve.routes import speech_routes
from fake_encoder import FakeEncoder

WAV = {"Content-Type": "audio/wav"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    library = made_library(tmp_path_factory.mktemp("speech"))
    app = create_app(library, load=lambda source: FakeEncoder())
    with TestClient(app, "http://localhost") as client:
        yield client


def test_a_recording_becomes_words_that_a_search_takes(client, tmp_path):
    assert client.get("/v1/library").json()["hears"]
    content = spoken(tmp_path / "said.wav", "a brown dog on the left").read_bytes()
    heard = client.post("/v1/speech", content=content, headers=WAV).json()
    assert "dog" in heard["text"].lower()
    assert heard["text"].split() == [word["utterance"] for word in heard["timed_text"]]
    stroke = [{"x": 0.2, "y": 0.5, "t": 0.5}, {"x": 0.3, "y": 0.6, "t": 0.9}]
    found = client.post("/v1/search", json={**heard, "traces": [stroke], "k": 3})
    assert found.status_code == 200 and len(found.json()["hits"]) == 3


@pytest.mark.parametrize(
    ("content", "kind", "status", "reason"),
    [
        (b"RIFF....", "audio/wav", 400, "not a WAV file"),
        (b"", "audio/wav", 400, "empty"),
        (b"x", "audio/webm", 415, "audio/wav"),
        (b"x" * 12_000_001, "audio/wav", 413, "12,000,000 bytes"),
    ],
)
def test_anything_else_is_refused_with_the_reason(client, content, kind, status, reason):
    answer = client.post("/v1/speech", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status and reason in answer.json()["detail"]


def test_without_the_extra_it_says_what_to_install(client, monkeypatch):
    monkeypatch.setattr(speech_routes, "can_recognise", lambda: False)
    answer = client.post("/v1/speech", content=b"x", headers=WAV)
    assert answer.status_code == 400 and "deixis[speech]" in answer.json()["detail"]
