"""Requests whose parts never end are given up while they are small, whoever sends them."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fake_server import fake_server

MOST = 4_000_000  # bytes that an attacker may be let send, most of them into the system's buffers
ADDED = 30_000_000  # bytes of memory
POST = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "a header": (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"a" * 65536),
    "headers": (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n" * 10_000),
    "an address": (b"GET /", b"a" * 65536),
    "trailers": (CHUNKED + b"2\r\n{}\r\n0\r\n", b"X: y\r\n" * 10_000),
    "what is said of a piece": (CHUNKED + b"1;", b"a" * 65536),
}


@pytest.fixture
def server(library: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    with fake_server(library, stderr=subprocess.DEVNULL) as found:
        yield found


def memory(process: subprocess.Popen[str]) -> int:
    """Bytes a process holds."""
    pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def connected(url: str) -> socket.socket:
    place = urlsplit(url)
    return socket.create_connection((place.hostname, place.port), timeout=120)


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_refused_soon(server, name):
    (url, process), (first, again) = server, ENDLESS[name]
    before, sent = memory(process), 0
    with connected(url) as connection:
        connection.sendall(first)
        try:
            while sent < 10 * MOST:
                connection.sendall(again)
                sent += len(again)
        except OSError:  # it is closed
            pass
    assert sent < MOST
    assert memory(process) - before < ADDED


def test_requests_whose_answers_nobody_reads_are_not_taken(server):
    url, process = server
    before, sent = memory(process), 0
    with connected(url) as connection:
        connection.settimeout(3)
        try:
            while sent < 100_000_000:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2_000)
                sent += 90_000
        except OSError:  # closed, or not taken any more
            pass
    assert sent < 100_000_000
    assert memory(process) - before < ADDED
