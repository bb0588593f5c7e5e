"""One query that cannot be answered must not take others down with it."""

import threading
import time

import pytest
from fastapi.testclient import TestClient

from deixis.serve.app import create_app
from fake_encoder import FakeEncoder

STROKE = [{"x": 0.1, "y": 0.2, "t": 0.0}, {"x": 0.3, "y": 0.4, "t": 0.5}]
FAR = [{"x": 0.1, "y": 0.2, "t": -1e308}, {"x": 0.3, "y": 0.4, "t": 1e308}]
SAID = [{"utterance": "b a " * 400, "start_time": n, "end_time": n + 1} for n in range(1_000)]
POISON = {
    "times": {"text": "a ball", "traces": [FAR]},
    "words": {
        "text": "a ball",
        "traces": [STROKE],
        "timed_text": [{"utterance": "a ball", "start_time": -1e308, "end_time": 1e308}],
    },
    "places": {"text": "a ball", "traces": [[{"x": 1e300, "y": -1e300, "t": 0.0}] * 3]},
    "link to no word": {
        "text": "a  ball",
        "traces": [STROKE],
        "links": [{"start_char": 1, "end_char": 2, "stroke": 0}],
    },
    "link past the end": {
        "text": "a ball",
        "traces": [STROKE],
        "links": [{"start_char": 2, "end_char": 60, "stroke": 0}],
    },
    "words that take hours to find in the text": {
        "text": "a b " * 500,
        "traces": [STROKE],
        "timed_text": SAID[:100],
    },
    "points of many strokes": {"text": "a ball", "traces": [[{"x": 0.1, "y": 0.2}] * 200] * 200},
}


PATIENCE = 120.0  # seconds, of which a machine that is not busy needs none


class Poisoned(FakeEncoder):
    """Raises what no code of ours raises, for one text, with all that were sent along."""

    def encode_text(self, texts):
        if "poison" in texts:
            raise OverflowError("cannot convert float infinity to integer")
        return super().encode_text(texts)


@pytest.fixture
def poisoned(library, monkeypatch):
    monkeypatch.setattr("deixis.serve.limits.waiting.LONGEST", PATIENCE)
    monkeypatch.setattr("deixis.serve.worker.PATIENCE", PATIENCE)
    app = create_app(library, load=lambda source: Poisoned())
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        until = time.monotonic() + PATIENCE
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < until, "the server does not get ready"
            time.sleep(0.01)
        yield client


@pytest.mark.parametrize("name", POISON)
def test_a_query_out_of_bounds_is_refused_with_its_own_reason(poisoned, name):
    answer = poisoned.post("/v1/search", json=POISON[name])
    assert answer.status_code == 400, answer.text


def test_innocent_queries_in_the_same_batch_are_answered(poisoned):
    asked = [{"text": f"ball {number}"} for number in range(24)]
    asked[3::3] = POISON.values()
    asked[4] = {"text": "poison"}
    answers: dict[int, int] = {}

    def ask(number):
        answers[number] = poisoned.post("/v1/search", json=asked[number]).status_code

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = {n: s for n, s in answers.items() if s != 200 and asked[n]["text"].startswith("ball")}
    assert not wrong
    assert answers[4] == 500
