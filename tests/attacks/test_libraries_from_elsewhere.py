"""A library is data: it may not choose whom to call, what to fetch or what to run."""

import http.server
import json
import os
import shutil
import socket
import threading

import httpx
import pytest
from browser import serving
from fake_server import fake_server

from deixis.errors import FeatureError, SearchError
from deixis.features.backbones import hub_access
from deixis.features.backbones.transformers_features import HFImages, HFTexts, how_to_load
from deixis.search.client import Client
from deixis.search.library import library as library_module
from deixis.search.library.library import Library
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.verification import verify
from deixis.search.query.query import Query
from deixis.search.query.server_client import ADDRESS, ask_running
from deixis.serve import start
from deixis.serve.app import create_app
from fake_encoder import FakeEncoder

TOKEN = "a token of sixteen"


class Imposter(http.server.BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self):
        self._answer({"proof": "0" * 64})

    def do_POST(self):
        hit = {"id": "0" * 32, "score": 9, "paths": ["/etc/passwd"], "band": "confident"}
        hit |= {"text_score": None, "width": None, "height": None, "stack": []}
        self._answer({"hits": [hit], "searched": 1, "notes": []})

    def _answer(self, body):
        Imposter.asked.append(f"{self.command} {self.path}")
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def imposter():
    Imposter.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Imposter)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))


def announce(library, url, mode=0o600):
    (library / ADDRESS).write_text(json.dumps({"url": url, "token": TOKEN}))
    os.chmod(library / ADDRESS, mode)


def test_a_program_at_the_announced_address_must_prove_itself(library, imposter, monkeypatch):
    monkeypatch.setattr(library_module, "load_encoder", lambda source: FakeEncoder())
    announce(library, imposter)
    found = Library(library).search(Query(text="my secrets", k=3))
    assert "/etc/passwd" not in [hit.paths[0] for hit in found.hits]
    assert not any(asked.startswith("POST") for asked in Imposter.asked)


@pytest.mark.parametrize(
    "url", ["http://evil.example", "http://10.0.0.1:80", "https://127.0.0.1", "file:///etc/passwd"]
)
def test_only_this_machine_is_asked(library, url, monkeypatch):
    monkeypatch.setattr(
        "deixis.search.query.server_client._asked", lambda request: pytest.fail("it was asked")
    )
    announce(library, url)
    assert ask_running(Query(text="a"), library) is None


NOT_HTTP = {
    "another protocol": b"SSH-2.0-OpenSSH_9\r\n",
    "an endless header": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000,
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    "half an answer": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "no status": b"HTTP/1.1 ok\r\n\r\n",
    "no table": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[[",
}


@pytest.mark.parametrize("name", NOT_HTTP)
def test_a_program_that_got_the_port_of_a_killed_server_is_no_error(library, name, monkeypatch):
    monkeypatch.setattr(library_module, "load_encoder", lambda source: FakeEncoder())

    def answer() -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(NOT_HTTP[name])

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        announce(library, url)
        assert len(Library(library).search(Query(text="a ball", k=3)).hits) == 3
        with pytest.raises(SearchError):
            Client(url).library()
        thread.join()


@pytest.mark.parametrize("how", ["others may write", "a link", "another owner"])
def test_a_note_that_others_may_have_written_is_not_believed(library, imposter, how, monkeypatch):
    announce(library, imposter, 0o666 if how == "others may write" else 0o600)
    if how == "a link":
        (library / ADDRESS).rename(library / "elsewhere.json")
        (library / ADDRESS).symlink_to(library / "elsewhere.json")
    if how == "another owner":
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert ask_running(Query(text="a"), library) is None
    assert not Imposter.asked


def test_the_users_own_server_proves_itself_and_answers(library):
    app = create_app(library, token=TOKEN, load=lambda source: FakeEncoder())
    with serving(app) as url, start._announced(library, url, TOKEN):
        assert len(ask_running(Query(text="a", k=3), library).hits) == 3


def test_nothing_is_fetched_because_a_file_names_it(tmp_path):
    pytest.importorskip("transformers")
    name = "nobody/no-such-model"
    assert how_to_load(name) == {"trust_remote_code": False, "local_files_only": True}
    for backbone in (HFImages(name), HFTexts(name)):
        with pytest.raises(FeatureError, match="nothing is fetched because a library"):
            backbone.identity()
    hub_access.allow_hub(f"hf:{name}:both+lite0")
    assert how_to_load(name)["local_files_only"] is False
    hub_access._named.clear()


def test_code_that_comes_with_a_model_is_not_run_and_nobody_is_asked(tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    config = {"model_type": "evil", "auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.C"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')")
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("somebody was asked"))
    with pytest.raises(FeatureError, match="cannot be loaded"):
        HFImages(str(tmp_path)).identity()
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "said",
    [b"../other/generation-1", b"/etc", b"", b"generation-9", b"\xff\xfe", b"generation-1/.."],
)
def test_current_names_a_generation_of_its_own_library_and_nothing_else(library, said):
    opened = LibraryStore(library)
    shutil.copytree(library, library.parent / "other")
    (library / "current").write_bytes(said)
    for use in (lambda: LibraryStore(library), lambda: verify(library), opened.is_current):
        with pytest.raises(SearchError, match=r"current is damaged, .*there are: generation-1"):
            use()
    opened.close()


def test_folders_that_only_look_like_generations_are_left_alone(library):
    (library / "generation-old").mkdir()
    with LibraryStore(library) as opened:
        opened.rebuild([], FakeEncoder("b" * 32))
    assert (library / "generation-old").is_dir()


@pytest.mark.parametrize(
    "given",
    [
        {"places": "/../../../etc/x", "cell_dim": 64},
        {"places": "..", "cell_dim": 64},
        {"places": "a\n", "cell_dim": 64},
        {"places": "a" * 500, "cell_dim": 64},
        {"places": 5},
        {"places": "a", "cell_dim": 0},
        {"places": "a", "cell_dim": 10**12},
        {"places": "a", "cell_dim": "64"},
    ],
    ids=range(8),
)
def test_a_place_head_in_a_header_names_no_file_elsewhere(library, given):
    header = library / "generation-1" / "header.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | given))
    with pytest.raises(SearchError, match="cannot be read as a library header"):
        LibraryStore(library)


@pytest.mark.parametrize("more", [(), ("--no-adding",)])
def test_folders_can_be_kept_out_of_a_server_that_others_reach_through_this_machine(library, more):
    with fake_server(library, *more) as (url, _):
        asked = httpx.post(f"{url}/v1/indexing", json={"folder": str(library)}, timeout=120)
        told = httpx.get(f"{url}/v1/library", timeout=120).json()
    assert asked.status_code == (403 if more else 200)
    assert told["adding"] is not bool(more)
