"""No page of another site may make a visitor's browser use the server."""

import io
from pathlib import Path

import pytest
from PIL import Image

from deixis.errors import DataError
from deixis.features.store.image_files import open_picture
from deixis.search.library.pictures.fingerprint import fingerprint_of

FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": "http://[::1]]"},
    {"origin": ""},
    {"origin": "http://localhost:9999"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "origin": "http://localhost"},
]
OWN = [{}, {"origin": "http://localhost", "sec-fetch-site": "same-origin"}]


@pytest.mark.parametrize("headers", FOREIGN)
def test_what_another_site_sends_is_refused(client, headers):
    for path in ("/v1/search", "/v1/explain"):
        answer = client.post(path, json={"text": "a", "id": "0" * 32}, headers=headers)
        assert answer.status_code == 403
    picture = {**headers, "content-type": "image/png"}
    assert client.post("/v1/search/picture", content=b"x", headers=picture).status_code == 403
    if "sec-fetch-site" in headers:
        assert client.get("/v1/search?text=a", headers=headers).status_code == 403
        assert client.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize("headers", OWN)
def test_the_page_itself_and_programs_are_answered(client, headers):
    assert client.post("/v1/search", json={"text": "a"}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8420", 200),
        ("127.0.0.1:1", 200),
        ("[::1]", 200),
        ("[::1]:8420", 200),
        ("", 403),
        ("[", 403),
        ("::1", 403),
        ("evil.example", 403),
        ("localhost.evil.example:80", 403),
        ("localhost@evil.example", 403),
        ("localhost:80:evil.example", 403),
        ("127.0.0.1.nip.io", 403),
    ],
)
def test_only_names_of_this_machine_reach_a_server_without_a_token(client, host, status):
    assert client.get("/v1/library", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_types_a_page_may_send_without_asking_are_refused(client, kind):
    sent = {"content-type": kind} if kind else {}
    for path, body in (("/v1/search", b'{"text": "a"}'), ("/v1/search/picture", png())):
        assert client.post(path, content=body, headers=sent).status_code == 415


POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 20 20\n%%EndComments\nshowpage\n"


@pytest.mark.parametrize("name", ["a.eps", "a.jpg"])
def test_no_decoder_that_starts_a_program_is_used(client, tmp_path, monkeypatch, name):
    started = []
    monkeypatch.setattr(
        "PIL.EpsImagePlugin.Ghostscript", lambda *_, **__: started.append(1), raising=False
    )
    Image.init()
    path = Path(tmp_path / name)
    path.write_bytes(POSTSCRIPT)
    with pytest.raises(DataError, match="not a picture in a known format"):
        open_picture(path, 32)
    assert fingerprint_of(path) is None
    sent = {"content-type": "image/png"}
    answer = client.post("/v1/search/picture", content=POSTSCRIPT, headers=sent)
    assert answer.status_code == 400
    assert not started


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4)).save(out, "PNG")
    return out.getvalue()
