"""Explaining takes long; searches must not wait for it, and nobody explains to nobody."""

import statistics
import threading
import time

import pytest
from fastapi.testclient import TestClient

from deixis.serve.app import create_app
from deixis.serve.limits import waiting
from deixis.serve.limits.lane import GoneError, Lane
from deixis.serve.worker import BusyError
from fake_encoder import FakeEncoder


class Slow(FakeEncoder):
    """Takes 20 ms per picture, off the interpreter as a network does."""

    def encode_image(self, files):
        time.sleep(0.02 * len(files))
        return super().encode_image(files)


def test_a_loop_of_explanations_leaves_searches_as_fast_as_alone(library):
    with TestClient(create_app(library, load=lambda source: Slow()), "http://localhost") as client:

        def median() -> float:
            times = []
            for number in range(60):
                started = time.monotonic()
                assert client.get(f"/v1/search?text=ball+{number}").status_code == 200
                times.append(time.monotonic() - started)
            return statistics.median(times)

        hit = client.get("/v1/search?text=ball").json()["hits"][0]["id"]
        asked = {"text": "a ball", "id": hit}
        assert client.post("/v1/explain", json=asked).status_code == 200
        alone, stop = median(), threading.Event()

        def loop():
            while not stop.is_set():
                assert client.post("/v1/explain", json=asked).status_code == 200

        explaining = threading.Thread(target=loop)
        explaining.start()
        beside = median()
        stop.set()
        explaining.join()
    assert beside < 1.5 * alone + 0.005


@pytest.fixture
def lane():
    lane = Lane("test", niceness=0, line=1, seconds=0.3)
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
    assert begun.wait(2)
    waiting = lane.call(lambda check: pytest.fail("nobody waits for this"))
    with pytest.raises(BusyError):
        lane.call(lambda check: None)
    waiting.leave()
    task.leave()
    with pytest.raises(GoneError):
        task.done.result(2)
    assert ended.is_set()


def test_work_past_its_deadline_is_given_up(lane):
    def work(check):
        while True:
            check()
            time.sleep(0.01)

    with pytest.raises(BusyError):
        lane.call(work).done.result(5)


def test_nobody_waits_longer_for_an_answer_than_is_promised(library, monkeypatch):
    """Even when the work does not come to the place where it would see that it is late."""
    monkeypatch.setattr(waiting, "LONGEST", 0.3)
    held = threading.Event()

    class Held(FakeEncoder):
        def encode_image(self, files):
            held.wait(20)
            return super().encode_image(files)

    with TestClient(create_app(library, load=lambda source: Held()), "http://localhost") as client:
        hit = client.get("/v1/search?text=ball").json()["hits"][0]["id"]
        answer = client.post("/v1/explain", json={"text": "a ball", "id": hit})
        held.set()
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
