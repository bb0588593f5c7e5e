"""Explaining takes long; searches must not wait for it, and nobody explains to nobody."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from deixis.serve.app import create_app
from deixis.serve.limits import waiting
from deixis.serve.limits.lane import GoneError, Lane
from deixis.serve.worker import BusyError
from fake_encoder import FakeEncoder

PATIENCE = 120.0  # seconds, of which a machine that is not busy needs none


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Callers who wait as long as the tests do."""
    monkeypatch.setattr(waiting, "LONGEST", PATIENCE)
    monkeypatch.setattr("deixis.serve.worker.PATIENCE", PATIENCE)
    monkeypatch.setattr("deixis.serve.app.LONGEST", PATIENCE)


def test_a_search_is_answered_while_an_explanation_is_held(library):
    begun, go = threading.Event(), threading.Event()

    class Held(FakeEncoder):
        """Reads pictures only when it is let go."""

        def encode_image(self, files):
            begun.set()
            assert go.wait(PATIENCE)
            return super().encode_image(files)

    with (
        TestClient(create_app(library, load=lambda source: Held()), "http://localhost") as client,
        ThreadPoolExecutor(1) as beside,
    ):
        hit = client.get("/v1/search?text=ball").json()["hits"][0]["id"]
        asked = {"text": "a ball", "id": hit}
        explained = beside.submit(client.post, "/v1/explain", json=asked)
        try:
            assert begun.wait(PATIENCE)
            for number in range(20):
                assert client.get(f"/v1/search?text=ball+{number}").status_code == 200
            assert not explained.done()
        finally:
            go.set()
        assert explained.result(PATIENCE).status_code == 200


@pytest.fixture
def lane():
    lane = Lane("test", niceness=0, line=1, seconds=PATIENCE)
    yield lane
    lane.stop()


def test_work_ends_when_who_asked_has_left(lane):
    begun, ended = threading.Event(), threading.Event()

    def work(check):
        begun.set()
        try:
            while True:
                check()
                time.sleep(0.01)
        finally:
            ended.set()

    task = lane.call(work)
    assert begun.wait(PATIENCE)
    waiting = lane.call(lambda check: pytest.fail("nobody waits for this"))
    with pytest.raises(BusyError):
        lane.call(lambda check: None)
    waiting.leave()
    task.leave()
    with pytest.raises(GoneError):
        task.done.result(PATIENCE)
    assert ended.is_set()


def test_work_past_its_deadline_is_given_up():
    lane = Lane("hurried", niceness=0, line=1, seconds=0.3)

    def work(check):
        while True:
            check()
            time.sleep(0.01)

    with pytest.raises(BusyError):
        lane.call(work).done.result(PATIENCE)
    lane.stop()


def test_nobody_waits_longer_for_an_answer_than_is_promised(library, monkeypatch):
    """Even when the work does not come to the place where it would see that it is late."""
    held = threading.Event()

    class Held(FakeEncoder):
        def encode_image(self, files):
            assert held.wait(PATIENCE)
            return super().encode_image(files)

    with TestClient(create_app(library, load=lambda source: Held()), "http://localhost") as client:
        hit = client.get("/v1/search?text=ball").json()["hits"][0]["id"]
        monkeypatch.setattr(waiting, "LONGEST", 0.3)
        answer = client.post("/v1/explain", json={"text": "a ball", "id": hit})
        held.set()
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
