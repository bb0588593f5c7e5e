"""What disturbs the searches of others: a loop of explanations, and pictures made to be huge."""

import http.client
import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

from PIL import Image

SIDE, UPLOADS = 6_300, 5  # pixels: the largest that is let through and cannot be opened cheaply


@contextmanager
def explaining(url: str, text: str) -> Iterator[None]:
    """Let one client ask for one explanation after the other, as long as the block runs."""
    found = _ask(url, "GET", f"/v1/search?text={quote(text)}")
    body = json.dumps({"text": text, "id": json.loads(found)["hits"][0]["id"]}).encode()
    ended = threading.Event()

    def loop() -> None:
        while not ended.is_set():
            _ask(url, "POST", "/v1/explain", body, "application/json")

    with _beside([loop]):
        yield
        ended.set()


@contextmanager
def huge_uploads(url: str) -> Iterator[None]:
    """Send some small files at once that are pictures of forty megapixels."""
    out = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE)).save(out, "PNG")

    def send() -> None:
        _ask(url, "POST", "/v1/search/picture", out.getvalue(), "image/png")

    with _beside([send] * UPLOADS):
        yield


@contextmanager
def _beside(works: list[Callable[[], None]]) -> Iterator[None]:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def _ask(url: str, method: str, path: str, body: bytes = b"", kind: str = "text/plain") -> bytes:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(method, path, body, {"Content-Type": kind})
        return connection.getresponse().read()
    finally:
        connection.close()
