import os
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from deixis.errors import SearchError
from deixis.scale.store import FolderStore, MissingObjectError, open_store


def test_objects_are_written_read_listed_and_deleted(store):
    store.write("a/one", b"1")
    store.write("a/two", b"22")
    store.write("b/one", b"333")
    store.write("a/one", b"1111")
    assert store.read("a/one") == b"1111"
    assert [(one.name, one.size) for one in store.list("a/")] == [("a/one", 4), ("a/two", 2)]
    assert [one.name for one in store.list()] == ["a/one", "a/two", "b/one"]
    store.delete("a/one")
    store.delete("a/one")
    with pytest.raises(MissingObjectError, match=r"there is no 'a/one' in .*"):
        store.read("a/one")


def test_of_racing_creators_exactly_one_wins_and_its_content_stays(store):
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: store.create("shards/x", str(n).encode()), range(8)))
    assert won.count(True) == 1
    assert store.read("shards/x") == str(won.index(True)).encode()


def test_of_racing_swaps_exactly_one_wins_and_a_stale_one_is_refused(store):
    store.write("current", b"first")
    _, tag = store.read_tagged("current")
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: store.swap("current", str(n).encode(), tag), range(8)))
    assert won.count(True) == 1
    assert store.read("current") == str(won.index(True)).encode()
    assert not store.swap("current", b"stale", tag)
    assert not store.swap("nothing", b"x", tag)


def test_files_of_a_store_have_ordinary_modes_whoever_makes_them(tmp_path):
    mask = os.umask(0o022)
    try:
        made = FolderStore(tmp_path / "store")
        made.write("a/one", b"1")
        made.create("a/two", b"2")
        assert made.swap("a/one", b"3", made.read_tagged("a/one")[1])
    finally:
        os.umask(mask)
    modes = {name: (tmp_path / "store/a" / name).stat().st_mode & 0o777 for name in ("one", "two")}
    assert modes == {"one": 0o644, "two": 0o644}


def test_looking_makes_no_folder(tmp_path):
    looked = FolderStore(tmp_path / "store")
    with pytest.raises(MissingObjectError):
        looked.read("manifests/one.json")
    looked.delete("jobs/one.json")
    assert list(looked.list()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_missing_bucket_is_named(bucket):
    with pytest.raises(SearchError, match="there is no bucket at s3://nobody"):
        open_store("s3://nobody/lib").read("current")
    with pytest.raises(SearchError, match="there is no bucket at s3://nobody"):
        list(open_store("s3://nobody/lib").list())


class Refusing(BaseHTTPRequestHandler):
    """Answers as S3 does to a user without rights."""

    def do_GET(self):
        content = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_PUT = do_GET  # noqa: N815  the names are the interface's

    def log_message(self, *given):
        pass


def test_a_refusal_is_a_sentence_that_names_the_variables(monkeypatch):
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        for act in (lambda s: s.read("current"), lambda s: s.create("current", b"1")):
            with pytest.raises(SearchError, match="refuses 'current': permission denied; AWS_"):
                act(open_store("s3://tests/lib"))
        with pytest.raises(SearchError, match="permission denied; AWS_"):
            list(open_store("s3://tests/lib").list())
        server.shutdown()


def test_nobody_at_the_endpoint_is_a_sentence(bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(SearchError, match="s3://tests/lib does not answer for 'current'"):
        open_store("s3://tests/lib").read("current")
