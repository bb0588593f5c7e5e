"""Where a server may listen, and that `deixis search` asks one that runs."""

import json
import re
import signal
import stat

import pytest
from browser import serving
from fake_server import fake_server
from typer.testing import CliRunner

from deixis.cli.command import app as command
from deixis.cli.command import load_verbs
from deixis.errors import SearchError
from deixis.search.library import library as library_module
from deixis.search.library.library import Library
from deixis.search.query.query import Query
from deixis.search.query.server_client import ADDRESS
from deixis.serve import start as running
from deixis.serve.app import create_app
from deixis.serve.start import ServeOptions, is_loopback
from fake_encoder import FakeEncoder

load_verbs()
TOKEN = "secret of sixteen"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "pictures.example", "10.0.0.1"])
def test_beyond_this_machine_nothing_is_served_without_a_token(library, host, monkeypatch):
    monkeypatch.setattr(running, "_listening", lambda *_: pytest.fail("it began to listen"))
    with pytest.raises(SearchError, match="give a --token"):
        running.run(library, ServeOptions(host=host), lambda url: None)
    done = CliRunner().invoke(command, ["serve", "-l", str(library), "--host", host])
    assert isinstance(done.exception, SearchError)


def test_with_a_token_it_would_listen_there(library, monkeypatch):
    asked = []

    def listening(host, port):
        asked.append(host)
        raise SearchError("far enough")

    monkeypatch.setattr(running, "_listening", listening)
    with pytest.raises(SearchError, match="far enough"):
        running.run(library, ServeOptions(host="0.0.0.0", token=TOKEN), lambda url: None)
    assert asked == ["0.0.0.0"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
def test_this_machine_alone_needs_none(host):
    assert is_loopback(host)


def test_search_asks_the_running_server_instead_of_loading_a_model(library, monkeypatch):
    monkeypatch.setattr(
        library_module, "load_encoder", lambda source: pytest.fail("a model was loaded")
    )
    app = create_app(library, token=TOKEN, load=lambda source: FakeEncoder())
    with serving(app) as url, running._announced(library, url, TOKEN):
        assert stat.S_IMODE((library / ADDRESS).stat().st_mode) == 0o600
        found = Library(library).search(Query(text="a red ball", k=5))
        said = CliRunner().invoke(
            command, ["search", "a red ball", "-l", str(library), "-t", "5", "--json"]
        )
    assert not (library / ADDRESS).exists()
    monkeypatch.setattr(library_module, "load_encoder", lambda source: FakeEncoder())
    alone = Library(library).search(Query(text="a red ball", k=5))
    assert [hit.id for hit in found.hits] == [hit.id for hit in alone.hits]
    assert [hit["id"] for hit in json.loads(said.stdout)["hits"]] == [h.id for h in alone.hits]
    assert (found.searched, found.hits[0].size, found.hits[0].band) == (
        alone.searched,
        alone.hits[0].size,
        alone.hits[0].band,
    )


@pytest.mark.parametrize("left", ['{"url": "http://127.0.0.1:9", "token": null}', "no json", "{}"])
def test_a_server_that_is_gone_is_not_missed(library, monkeypatch, left):
    (library / ADDRESS).write_text(left)
    monkeypatch.setattr(library_module, "load_encoder", lambda source: FakeEncoder())
    assert len(Library(library).search(Query(text="a red ball")).hits) == 10


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_served_library_is_found_and_left_usable_however_the_server_ends(
    library, monkeypatch, end
):
    """The command itself serves; only its model is a stand-in."""
    with fake_server(library) as (url, server):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        with monkeypatch.context() as patch:
            patch.setattr(
                library_module, "load_encoder", lambda source: pytest.fail("a model was loaded")
            )
            assert len(Library(library).search(Query(text="a red ball", k=3)).hits) == 3
        server.send_signal(end)
        server.wait(120)
    assert (library / ADDRESS).exists() == (end == signal.SIGKILL)
    monkeypatch.setattr(library_module, "load_encoder", lambda source: FakeEncoder())
    assert len(Library(library).search(Query(text="a red ball", k=3)).hits) == 3
