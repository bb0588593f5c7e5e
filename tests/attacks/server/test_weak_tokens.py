"""An empty or short token must not open the network, and no cookie may break the door."""

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from deixis.cli.command import app as command
from deixis.cli.command import load_verbs
from deixis.errors import SearchError
from deixis.serve import start
from deixis.serve.app import create_app
from deixis.serve.limits.access_token import quoted
from deixis.serve.start import ServeOptions
from fake_encoder import FakeEncoder

load_verbs()
TOKEN = "a & b/c=d;sixteen"
WEAK = ["", " ", "short", "fifteen letters", " " * 40]


@pytest.mark.parametrize("token", WEAK)
@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_a_weak_token_is_refused_before_anything_listens(library, token, host, monkeypatch):
    monkeypatch.setattr(start, "_listening", lambda *_: pytest.fail("it began to listen"))
    with pytest.raises(SearchError, match="at least 16 characters"):
        start.run(library, ServeOptions(host=host, token=token), lambda url: None)
    with pytest.raises(SearchError, match="at least 16 characters"):
        create_app(library, token)


def test_a_variable_that_is_set_but_empty_is_a_weak_token(library, monkeypatch):
    monkeypatch.setattr(start, "_listening", lambda *_: pytest.fail("it began to listen"))
    monkeypatch.setenv("DEIXIS_TOKEN", "")
    done = CliRunner().invoke(command, ["serve", "-l", str(library)])
    assert isinstance(done.exception, SearchError)
    assert "the token is empty" in str(done.exception)


@pytest.mark.parametrize("cookie", ["a/b=c", "=;;=", "deixis_token", 'x="\\', "é=1", "a b; c\t=d"])
def test_cookies_of_other_programs_are_no_error(library, cookie):
    app = create_app(library, TOKEN, load=lambda source: FakeEncoder())
    with TestClient(app, "http://photos.example", raise_server_exceptions=False) as client:
        sent = {"cookie": cookie.encode()}
        assert client.get("/v1/library", headers=sent).status_code == 401
        both = {**sent, "authorization": f"Bearer {TOKEN}"}
        assert client.get("/v1/library", headers=both).status_code == 200


def test_the_printed_link_opens_the_page_whatever_the_token_holds(library, monkeypatch):
    links = []
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    start.run(library, ServeOptions(host="127.0.0.1", port=0, token=TOKEN), links.append)
    app = create_app(library, TOKEN, load=lambda source: FakeEncoder())
    with TestClient(app, "http://photos.example") as client:
        path = links[0].split("/", 3)[3]
        assert client.get(f"/{path}").status_code == 200
        assert client.get("/v1/library").status_code == 200


@pytest.mark.parametrize("way", ["header", "cookie", "link"])
def test_every_way_to_show_a_token_is_compared_in_constant_time(library, monkeypatch, way):
    compared = []

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("deixis.serve.limits.access_token.secrets.compare_digest", noted)
    app = create_app(library, TOKEN, load=lambda source: FakeEncoder())
    with TestClient(app, "http://photos.example") as client:
        for said in (TOKEN[:-1], TOKEN):
            compared.clear()
            headers = {
                "header": {"authorization": f"Bearer {said}"},
                "cookie": {"cookie": f"deixis_token={quoted(said)}"},
                "link": {},
            }[way]
            path = f"/?token={quoted(said)}" if way == "link" else "/v1/library"
            answer = client.get(path, headers=headers, follow_redirects=False)
            assert answer.status_code == (401 if said != TOKEN else 303 if way == "link" else 200)
            assert compared and set(compared) == {(32, 32)}  # hashes: neither length shows
