"""Clients that dawdle, flood or stay cannot hold the server, and it ends when asked to."""

import hashlib
import http.client
import json
import logging
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from urllib.parse import urlsplit

import pytest
from browser import serving
from fake_server import fake_server
from made_library import made_library
from PIL import Image

from deixis.serve.app import create_app
from deixis.serve.limits import bounded_protocol
from deixis.serve.limits.bounded_log import BoundedLog
from fake_encoder import FakeEncoder

SLOW = {"HEAD": "0.5", "IDLE": "1", "BODY": "1.0"}
PATIENCE = 120.0  # seconds, of which a machine that is not busy needs one or two


@pytest.fixture
def impatient(monkeypatch):
    """The server's limits in seconds, cut down so that a test can wait for them."""
    for name, value in SLOW.items():
        monkeypatch.setenv(f"DEIXIS_TEST_{name}", value)


@pytest.fixture
def connected():
    """A way to connect; what is still open is closed at the end."""
    opened = []

    def connect(url) -> socket.socket:
        place = urlsplit(url)
        opened.append(socket.create_connection((place.hostname, place.port), timeout=PATIENCE))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side closes it, in a while."""
    try:
        while connection.recv(4096):
            continue
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def test_a_head_that_never_ends_is_given_up(library, impatient, connected):
    with fake_server(library) as (url, _):
        silent, dripping = connected(url), connected(url)
        dripping.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        assert is_closed(silent)
        assert is_closed(dripping)


def test_a_second_head_that_never_ends_is_given_up_too(library, monkeypatch, connected):
    monkeypatch.setenv("DEIXIS_TEST_HEAD", "5")
    with fake_server(library) as (url, _):
        again = connected(url)
        again.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert again.recv(4096).startswith(b"HTTP/1.1 200")
        again.sendall(b"GET /healthz HT")
        assert is_closed(again)


def test_a_body_that_never_comes_is_answered_408(library, impatient, connected):
    with fake_server(library) as (url, _):
        slow = connected(url)
        head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        slow.sendall(head + b"Content-Length: 100\r\n\r\n{")
        assert slow.recv(4096).startswith(b"HTTP/1.1 408")


def test_connections_stay_below_the_files_a_process_may_open(monkeypatch):
    import resource

    for files, wanted in ((4096, 512), (256, 128), (64, 16)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert bounded_protocol.most_connections() == wanted


@pytest.mark.slow
def test_a_flood_of_connections_leaves_the_server_answering(library, impatient, connected):
    with fake_server(library) as (url, _):
        for _ in range(700):
            connected(url)
        until = time.monotonic() + PATIENCE  # those that say nothing are given up meanwhile
        while (status := search(url)) != 200:
            assert time.monotonic() < until, status
            time.sleep(0.2)


def search(url) -> int | None:
    """How a search is answered; None when the connection is not taken."""
    asked = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    try:
        asked.request("GET", "/v1/search?text=a", headers={"Host": "localhost"})
        return asked.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        asked.close()


def index_from_the_page(url, folder):
    asked = http.client.HTTPConnection("localhost", urlsplit(url).port, timeout=PATIENCE)
    body, kind = json.dumps({"folder": str(folder)}), {"Content-Type": "application/json"}
    asked.request("POST", "/v1/indexing", body, kind)
    assert json.loads(asked.getresponse().read())["standing"] == "running"
    asked.close()


def test_it_ends_within_ten_seconds_whatever_is_open(tmp_path, connected):
    """By either signal, while it indexes for the page or by itself; four servers at once."""
    endings = ((signal.SIGTERM, 143), (signal.SIGINT, 130))
    cases = list(product(("from the page", "by following"), endings))
    with ThreadPoolExecutor(len(cases)) as pool:
        ended = [
            pool.submit(end_while_busy, tmp_path / str(number), connected, *case)
            for number, case in enumerate(cases)
        ]
        for (_, (_, code)), done in zip(cases, ended, strict=True):
            left, said, answer = done.result()
            assert left == code
            assert said.startswith("stopped: ") and said.count("\n") == 1
            assert answer.startswith(b"HTTP/1.1 503")


def end_while_busy(folder, connected, indexed, ending) -> tuple[int, str, bytes]:
    """A half body, a half head, nothing, an explanation and a picture that take minutes each."""
    folder.mkdir()
    library, begun = made_library(folder), folder / "begun"
    Image.new("RGB", (40, 30), "red").save(folder / "pictures" / "new.png")
    more = ("--watch",) if indexed == "by following" else ()
    slow = {"DEIXIS_TEST_PICTURE": "300", "DEIXIS_TEST_BEGUN": str(begun)}
    with fake_server(library, *more, stderr=subprocess.PIPE, **slow) as (url, server):
        if indexed == "from the page":
            index_from_the_page(url, folder / "pictures")
        half = connected(url)
        half.sendall(b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n")
        half.sendall(b"Content-Type: application/json\r\n\r\n{")
        connected(url).sendall(b"GET /heal")
        connected(url)
        picture = sorted((folder / "pictures").glob("*.png"))[0].read_bytes()
        id = hashlib.blake2b(picture, digest_size=16).hexdigest()
        asked = json.dumps({"text": "a", "id": id}).encode()
        head = b"POST /v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connected(url).sendall(head + b"Content-Length: %d\r\n\r\n" % len(asked) + asked)
        until = time.monotonic() + PATIENCE
        while not begun.exists() or len(begun.read_text().splitlines()) < 2:
            assert time.monotonic() < until, "the explanation or the picture has not begun"
            time.sleep(0.05)
        server.send_signal(ending[0])
        # Ten seconds are promised where the machine has time for it; pictures take minutes.
        code, said = server.wait(PATIENCE), server.stderr.read()
    return code, said, half.recv(4096)


def test_a_log_is_bounded_and_says_so():
    log, written = logging.getLogger("flooded"), []
    handler = logging.Handler()
    handler.emit = lambda record: written.append(record.getMessage())
    log.addHandler(handler)
    bound = BoundedLog(most=5, seconds=60.0)
    log.addFilter(bound)
    for number in range(1000):
        log.warning("failed %s", number)
    assert len(written) == 5
    bound._since -= 61.0  # a minute goes by
    log.warning("later")
    assert written[-1] == "later (995 messages were held back)"


class Held(FakeEncoder):
    """Reads texts only when it is let go."""

    def __init__(self, begun, go) -> None:
        super().__init__()
        self.begun, self.go = begun, go

    def encode_text(self, texts):
        self.begun.set()
        assert self.go.wait(PATIENCE)
        return super().encode_text(texts)


LEFT = 'deixis_requests_total{route="/v1/search",status="499"} 1.0'


def counted(url) -> str:
    """What the server counted so far."""
    asked = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    asked.request("GET", "/metrics", headers={"Host": "localhost"})
    found = asked.getresponse().read().decode()
    asked.close()
    return found


def test_who_leaves_is_counted_as_such_and_is_no_error_in_the_log(
    library, connected, caplog, monkeypatch
):
    monkeypatch.setattr("deixis.serve.limits.waiting.LONGEST", 2 * PATIENCE)
    begun, go = threading.Event(), threading.Event()
    with serving(create_app(library, load=lambda source: Held(begun, go))) as url:
        for path in (b"/v1/search?text=a", b"/v1/search?text=b"):
            leaving = connected(url)
            leaving.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        foreign = connected(url)
        foreign.sendall(b"GET /v1/library HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert foreign.recv(4096).startswith(b"HTTP/1.1 403")
        assert begun.wait(PATIENCE)
        leaving.close()
        until = time.monotonic() + PATIENCE
        while LEFT not in counted(url) and time.monotonic() < until:
            time.sleep(0.05)
        go.set()
        found = counted(url)
    assert LEFT in found
    assert 'deixis_requests_total{route="other",status="403"} 1.0' in found
    assert 'status="500"' not in found
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
