import io
import json
import shutil
import threading
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from deixis.search.library.library_store import LibraryStore
from deixis.serve.app import create_app
from deixis.serve.limits import guard
from fake_encoder import FakeEncoder

LOCAL = "http://localhost"
PNG = {"content-type": "image/png"}
TOKEN = "s3cret-of-sixteen"
STROKE = [{"x": 0.1, "y": 0.2, "t": 0.0}, {"x": 0.3, "y": 0.4, "t": 0.5}]


def ids(answer):
    assert answer.status_code == 200, answer.text
    return [hit["id"] for hit in answer.json()["hits"]]


def assert_problem(answer, status, words):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["status"] == status
    assert words in document["detail"]


def test_words_are_found_the_same_by_get_and_by_post(client):
    got = client.get("/v1/search", params={"text": "a red ball", "k": 5})
    posted = client.post("/v1/search", json={"text": "a red ball", "k": 5})
    assert len(ids(got)) == 5
    assert ids(got) == ids(posted)
    hit = got.json()["hits"][0]
    assert (hit["width"], hit["height"], hit["text_score"]) == (160, 120, None)
    assert hit["band"] in ("confident", "maybe", "rest")


def test_a_filter_leaves_out_what_does_not_pass(client):
    found = client.post("/v1/search", json={"text": "x", "k": 40, "where": "label:dog"}).json()
    assert found["searched"] == 10
    assert all(int(Path(hit["paths"][0]).stem) % 4 == 0 for hit in found["hits"])


def test_a_line_of_localized_narratives_is_a_query(client):
    line = {
        "dataset_id": "open_images",
        "image_id": "0001",
        "annotator_id": 3,
        "caption": "a ball",
        "timed_caption": [{"utterance": "a ball", "start_time": 0, "end_time": 0.5}],
        "traces": [STROKE],
        "voice_recording": "x.ogg",
    }
    found = client.post("/v1/search", json=line).json()
    assert found["hits"][0]["text_score"] is not None
    assert found["text_order"] == ids(client.post("/v1/search", json={"text": "a ball"}))


def test_the_weight_leads_from_the_words_alone_to_the_whole_trace(client):
    asked = {"text": "a ball", "traces": [STROKE], "k": 40}
    alone = ids(client.post("/v1/search", json={"text": "a ball", "k": 40}))
    assert ids(client.post("/v1/search", json={**asked, "trace_weight": 0})) == alone
    assert ids(client.post("/v1/search", json={**asked, "trace_weight": 1})) != alone


def test_an_explanation_has_both_scores_both_ranks_and_what_each_stroke_adds(client):
    asked = {"text": "a ball", "traces": [STROKE], "trace_weight": 0.7, "k": 40}
    asked["links"] = [{"start_char": 2, "end_char": 6, "stroke": 0}]
    found = client.post("/v1/search", json=asked).json()
    hit = found["hits"][3]
    answer = client.post("/v1/explain", json={**asked, "id": hit["id"]}).json()
    assert answer["score"] == pytest.approx(hit["score"], abs=1e-5)
    assert answer["text_score"] == pytest.approx(hit["text_score"], abs=1e-5)
    assert answer["rank"] == 4
    assert answer["text_rank"] == found["text_order"].index(hit["id"]) + 1
    assert len(answer["strokes"]) == 1 and answer["strokes"][0] != 0
    assert [word["start_char"] for word in answer["words"]] == [0, 2]
    alone = client.post("/v1/explain", json={"text": "a ball", "id": hit["id"]}).json()
    assert alone["score"] == pytest.approx(hit["text_score"], abs=1e-5)
    assert (alone["text_score"], alone["strokes"], alone["rank"]) == (None, [], answer["text_rank"])


def test_a_picture_finds_itself_by_upload_and_by_id(client):
    one = ids(client.get("/v1/search", params={"text": "anything"}))[3]
    original = client.get(f"/v1/images/{one}", params={"size": "original"})
    assert original.headers["content-type"] == "image/png"
    assert ids(client.post("/v1/search/picture", content=original.content, headers=PNG))[0] == one
    assert ids(client.get(f"/v1/images/{one}/similar"))[0] == one


def test_a_part_of_a_picture_is_another_query(client):
    picture = io.BytesIO()
    drawn = Image.new("RGB", (20, 10), "red")
    drawn.paste("blue", (10, 0, 20, 10))
    drawn.save(picture, "PNG")
    whole, part = (
        ids(client.post(f"/v1/search/picture{crop}", content=picture.getvalue(), headers=PNG))
        for crop in ("", "?crop=0,0.5,0,1")
    )
    assert whole != part
    refused = client.post(
        "/v1/search/picture?crop=0.5,0.1,0,1", content=picture.getvalue(), headers=PNG
    )
    assert_problem(refused, 422, "crop is '0.5,0.1,0,1'")


def test_a_thumbnail_is_small_and_kept_by_the_browser(client):
    one = ids(client.get("/v1/search", params={"text": "anything"}))[0]
    answer = client.get(f"/v1/images/{one}")
    assert Image.open(io.BytesIO(answer.content)).size == (160, 120)
    assert "immutable" in answer.headers["cache-control"]


def test_only_pictures_as_they_were_indexed_are_readable(client, library):
    hits = client.get("/v1/search", params={"text": "anything"}).json()["hits"]
    secret = library.parent / "secret.png"
    first, second = Path(hits[0]["paths"][0]), Path(hits[1]["paths"][0])
    secret.write_bytes(first.read_bytes())
    first.unlink()
    first.symlink_to(secret)
    second.write_bytes(b"something else")
    for hit in hits[:2]:
        answer = client.get(f"/v1/images/{hit['id']}", params={"size": "original"})
        assert_problem(answer, 404, "index again")
    assert_problem(client.get(f"/v1/images/{'0' * 32}"), 404, "there is no picture")
    for path in ("/v1/images/..%2F..%2Fsecret.png", "/ui/..%2f..%2fapp.py", "/ui/../app.py"):
        assert client.get(path).status_code in (404, 422)


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"text": ""}, 422, "body.text"),
        ({"text": "   "}, 400, "the query is empty"),
        ({"text": "a" * 2001}, 422, "body.text"),
        ({"text": "a", "k": 0}, 422, "body.k"),
        ({"text": "a", "where": "colour:red"}, 400, "there is no condition 'colour'"),
        ({"text": "a", "links": [{"start_char": 0, "end_char": 1, "stroke": 0}]}, 400, "stroke 0"),
        ({"text": "a", "traces": [STROKE], "trace_weight": 2}, 422, "trace_weight"),
        ({"text": "a", "traces": [[{"x": 0}]]}, 422, "y"),
        ({"text": "a", "traces": [[{"x": 0.5, "y": 0.5, "t": 0}] * 20_001]}, 422, "20000"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_reason(client, asked, status, words):
    assert_problem(client.post("/v1/search", json=asked), status, words)


def test_what_is_no_picture_is_refused_without_naming_a_file(client):
    answer = client.post("/v1/search/picture", content=b"bad bytes", headers=PNG)
    assert_problem(answer, 400, "the picture is in no known format")
    assert "/tmp" not in answer.text


def test_too_large_a_request_is_refused_announced_or_not(client, monkeypatch):
    monkeypatch.setattr(guard, "LARGEST_REQUEST", 100)
    large = json.dumps({"text": "a" * 200}).encode()
    kind = {"content-type": "application/json"}
    assert_problem(client.post("/v1/search", content=large, headers=kind), 413, "100 bytes")
    pieces = (large[i : i + 50] for i in range(0, len(large), 50))
    assert_problem(client.post("/v1/search", content=pieces, headers=kind), 413, "100 bytes")


def test_another_host_name_is_refused_without_a_token(library):
    app = create_app(library, load=lambda source: FakeEncoder())
    with TestClient(app, "http://evil.example") as client:
        assert_problem(client.get("/v1/library"), 403, "localhost")


def test_a_token_opens_the_interface_and_by_a_cookie_the_page(library):
    app = create_app(library, TOKEN, load=lambda source: FakeEncoder())
    with TestClient(app, "http://photos.example") as client:
        assert client.get("/healthz").status_code == 200
        assert_problem(client.get("/v1/library"), 401, "a token is needed")
        assert_problem(client.get("/?token=wrong"), 401, "a token is needed")
        shown = {"authorization": f"Bearer {TOKEN}"}
        assert client.get("/v1/library", headers=shown).status_code == 200
        answer = client.get(f"/?token={TOKEN}", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "httponly" in answer.headers["set-cookie"].lower()
        assert client.get("/v1/library").status_code == 200


def test_every_answer_forbids_what_the_page_does_not_need(client):
    for path in ("/", "/healthz", "/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_a_full_line_answers_503_and_says_when_to_come_back(library):
    class Slow(FakeEncoder):
        begun, go = threading.Event(), threading.Event()

        def encode_text(self, texts):
            if "wait" in texts:
                self.begun.set()
                assert self.go.wait(120)
            return super().encode_text(texts)

    app = create_app(library, load=lambda source: Slow(), line=1)
    with TestClient(app, LOCAL) as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.01)
        client.get("/v1/search", params={"text": "warm up"})
        answers = []
        threads = [
            threading.Thread(
                target=lambda: answers.append(client.get("/v1/search", params={"text": "wait"}))
            )
            for _ in range(8)
        ]
        threads[0].start()
        assert Slow.begun.wait(120)  # it is being answered alone, and one of the others can wait
        for thread in threads[1:]:
            thread.start()
        while len(answers) < 6:
            time.sleep(0.01)
        Slow.go.set()
        for thread in threads:
            thread.join()
    refused = [answer for answer in answers if answer.status_code == 503]
    assert {answer.status_code for answer in answers} == {200, 503}
    assert_problem(refused[0], 503, "too many requests")
    assert refused[0].headers["retry-after"] == "1"


def test_pictures_indexed_meanwhile_are_found(client, library, monkeypatch):
    monkeypatch.setattr("deixis.serve.worker.FRESH", 0.0)
    assert client.get("/v1/library").json()["pictures"] == 40
    pictures = library.parent / "pictures"
    Image.new("RGB", (30, 30), "blue").save(pictures / "new.png")
    with LibraryStore(library) as opened:
        opened.add([pictures], FakeEncoder())
    assert client.get("/v1/library").json()["pictures"] == 41
    assert client.get("/v1/search", params={"text": "x"}).json()["searched"] == 41


def test_the_count_and_what_is_searched_agree_before_a_change_is_noticed(
    client, library, monkeypatch
):
    monkeypatch.setattr("deixis.serve.worker.FRESH", 1e9)

    def counts():
        found = client.get("/v1/search", params={"text": "x"}).json()
        return client.get("/v1/library").json()["pictures"], found["searched"]

    assert counts() == (40, 40)
    pictures = library.parent / "pictures"
    Image.new("RGB", (30, 30), "blue").save(pictures / "new.png")
    with LibraryStore(library) as opened:
        opened.add([pictures], FakeEncoder())
    assert counts() == (40, 40)
    monkeypatch.setattr("deixis.serve.worker.FRESH", 0.0)
    assert counts() == (41, 41)


def test_a_library_that_vanishes_is_reported_not_crashed_on(client, library, monkeypatch):
    monkeypatch.setattr("deixis.serve.worker.FRESH", 0.0)
    assert client.get("/v1/library").status_code == 200
    assert client.get("/readyz").status_code == 200
    (library / "current").unlink()
    assert_problem(client.get("/v1/search", params={"text": "a"}), 400, "is gone")
    assert_problem(client.get("/readyz"), 503, "the library is gone")


def test_a_deleted_library_is_not_ready(client, library):
    assert client.get("/v1/library").status_code == 200
    shutil.rmtree(library / "generation-1")
    assert_problem(client.get("/readyz"), 503, "the library is gone")
    shutil.rmtree(library)
    assert_problem(client.get("/readyz"), 503, "the library is gone")


def test_the_library_describes_what_can_be_asked(client, library):
    answer = client.get("/v1/library").json()
    assert answer["labels"] == ["cat", "dog"]
    assert answer["folders"] == [str(library.parent / "pictures")]
    assert answer["reads_traces"] is True


def test_metrics_count_requests_by_route(client):
    client.get("/v1/search", params={"text": "a"})
    answer = client.get("/metrics").text
    assert 'deixis_requests_total{route="/v1/search",status="200"} 1.0' in answer
    assert "deixis_waiting 0.0" in answer
    plain = next(line for line in answer.splitlines() if line.startswith("deixis_plain_passes "))
    assert float(plain.split()[1]) >= 1  # rows this few are read in float32
