"""The library looked through, asked for several things at once, and added to, over HTTP."""

import base64
import threading
import time

import pytest
from fastapi.testclient import TestClient

from deixis.serve.app import create_app
from fake_encoder import FakeEncoder


def ids_of(client, **asked):
    found = client.get("/v1/pictures", params=asked).json()
    return [one["id"] for one in found["pictures"]]


def test_pictures_come_newest_first_page_by_page(client):
    everything = ids_of(client, count=200)
    assert len(set(everything)) == 40
    assert ids_of(client, count=15) + ids_of(client, start=15, count=30) == everything
    first = client.get("/v1/pictures", params={"count": 2}).json()
    assert [one["count"] for one in first["headings"]] == [40]
    times = [one["changed"] for one in client.get("/v1/pictures").json()["pictures"]]
    assert times == sorted(times, reverse=True)
    assert not client.get("/v1/pictures", params={"start": 2}).json()["headings"]


def test_folders_and_filters_choose_what_is_looked_through(client, library):
    found = client.get("/v1/pictures", params={"order": "folder", "where": "label:dog"}).json()
    assert found["headings"] == [{"name": str(library.parent / "pictures"), "count": 10}]
    names = [one["paths"][0][-6:] for one in found["pictures"]]
    assert names == [f"{number:02}.png" for number in range(0, 40, 4)]


def test_examples_are_made_from_what_the_library_holds(client):
    assert client.get("/v1/examples").json() == {"examples": ["cat", "dog"]}


def test_a_mixture_adds_the_scores_of_its_parts_by_their_spread(client):
    wanted, unwanted = ids_of(client, count=2)
    alone = client.post("/v1/search/mixed", json={"parts": [{"id": wanted}], "k": 40}).json()
    assert alone["hits"][0]["id"] == wanted
    parts = [{"id": wanted}, {"id": unwanted, "weight": -1}]
    both = client.post("/v1/search/mixed", json={"parts": parts, "k": 40}).json()
    other = client.post("/v1/search/mixed", json={"parts": [{"id": unwanted}], "k": 40}).json()
    scores = [{hit["id"]: hit["score"] for hit in one["hits"]} for one in (alone, other, both)]
    for id, score in scores[2].items():
        assert score == pytest.approx(scores[0][id] - scores[1][id], abs=1e-4)
    assert both["hits"][-1]["id"] == unwanted


def test_words_a_picture_sent_along_and_a_part_of_one_can_be_mixed(client, library):
    file = next((library.parent / "pictures").glob("07.png"))
    sent = base64.b64encode(file.read_bytes()).decode()
    parts = [
        {"picture": sent},
        {"words": {"text": "a dog"}, "weight": 0.25},
        {"id": ids_of(client)[0], "crop": [0, 0.5, 0, 0.5], "weight": -0.25},
    ]
    found = client.post("/v1/search/mixed", json={"parts": parts}).json()
    assert found["hits"][0]["paths"] == [str(file)]


def test_a_mixture_is_explained_part_by_part(client):
    first, second = ids_of(client, count=2)
    parts = [{"words": {"text": "a red dog"}}, {"id": first, "weight": -0.5}]
    asked = {"parts": parts, "k": 40}
    scores = {
        hit["id"]: hit["score"]
        for hit in client.post("/v1/search/mixed", json=asked).json()["hits"]
    }
    found = client.post("/v1/explain/mixed", json={"parts": parts, "id": second}).json()
    assert sum(one["share"] for one in found["parts"]) == pytest.approx(scores[second], abs=1e-4)
    assert [one and len(one["words"]) for one in found["words"]] == [3, None]
    summed = [sum(both) for both in zip(*(one["regions"] for one in found["parts"]), strict=True)]
    assert found["regions"] == pytest.approx(summed)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"words": {"text": "a dog"}, "weight": -1}], "every part is unwanted"),
        ([{"words": {"text": "a dog"}, "id": "0" * 32}], "exactly one of words, id and picture"),
        ([{"id": "0" * 32, "crop": [0.5, 0.2, 0, 1]}], "xmin < xmax"),
        ([], "at least 1 item"),
    ],
)
def test_a_senseless_mixture_is_refused_with_the_reason(client, parts, said):
    answer = client.post("/v1/search/mixed", json={"parts": parts})
    assert answer.status_code in (400, 422)
    assert said in answer.json()["detail"]


def test_folders_are_added_only_where_that_is_allowed(client, library, tmp_path):
    assert client.get("/v1/library").json()["adding"] is False
    refused = client.post("/v1/indexing", json={"folder": str(tmp_path)})
    assert (refused.status_code, "deixis index" in refused.json()["detail"]) == (403, True)


@pytest.mark.parametrize("folder", ["~nobody-at-all/photos", "photos", "/tmp/\0"])
def test_what_is_no_folder_is_refused(library, folder):
    app = create_app(library, load=lambda source: FakeEncoder(), adding=True)
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        answer = client.post("/v1/indexing", json={"folder": folder})
    assert (answer.status_code, "is not a folder" in answer.text) == (400, True)


def test_adding_a_folder_can_be_paused_and_goes_on(library, tmp_path, monkeypatch):
    monkeypatch.setattr("deixis.serve.worker.FRESH", 1e9)  # only who is told looks again
    more = tmp_path / "more"
    more.mkdir()
    for number in range(40):
        content = (tmp_path / "pictures" / f"{number:02}.png").read_bytes()
        (more / f"new{number}.png").write_bytes(content + b"changed")
    (more / "broken.png").write_bytes(b"bad")

    asked_to_pause = threading.Event()

    class Held(FakeEncoder):
        """Reads pictures only when the pause has been asked for: nothing is done before."""

        def encode_image(self, files):
            assert asked_to_pause.wait(60)
            return super().encode_image(files)

    def standing(client):
        return client.get("/v1/indexing").json()["standing"]

    def wait_until(reached):
        until = time.monotonic() + 60
        while not reached():
            assert time.monotonic() < until, "the folder was not added within a minute"
            time.sleep(0.02)

    app = create_app(library, load=lambda source: Held(), adding=True)
    with TestClient(app, "http://localhost") as client:
        assert standing(client) == "idle"
        client.post("/v1/indexing", json={"folder": str(more)})
        again = client.post("/v1/indexing", json={"folder": str(more)})
        assert "being indexed" in again.json()["detail"]
        client.post("/v1/indexing/pause", json={})
        asked_to_pause.set()
        wait_until(lambda: standing(client) != "running")
        paused = client.get("/v1/indexing").json()
        assert paused["standing"] == "paused"
        assert paused["done"] < paused["total"] == 41
        client.post("/v1/indexing", json={"folder": str(more)})
        wait_until(lambda: standing(client) != "running")
        done = client.get("/v1/indexing").json()
        assert (done["standing"], done["done"]) == ("done", 41)
        assert [problem["path"][-10:] for problem in done["problems"]] == ["broken.png"]
        assert client.get("/v1/library").json()["pictures"] == 80
