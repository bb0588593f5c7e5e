"""A real browser on a real server over a real, small model; what the browser tests stand on."""

import math
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 120_000  # milliseconds; a machine full of other work is late, not broken
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no chromium here; `apt-get install chromium` lets the browser tests run")
    return found


@contextmanager
def serving(app) -> Iterator[str]:
    """Run an app on a free port of this machine."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


def draw(page, x: float, y: float, radius: float = 0.12) -> None:
    """Draw a circle on the canvas."""
    box = page.locator(".paper").bounding_box()
    for step in range(25):
        angle = step * math.pi / 12
        page.mouse.move(
            box["x"] + box["width"] * (x + radius * math.cos(angle)),
            box["y"] + box["height"] * (y + radius * math.sin(angle)),
        )
        if step == 0:
            page.mouse.down()
    page.mouse.up()


def picture_file(folder: Path) -> Path:
    return sorted(folder.glob("*.png"))[7]


def answered(page):
    """Wait until everything asked so far has been answered and shown."""
    page.wait_for_selector("#results[aria-busy=false]", state="attached")


def still(page):
    """Wait until all is answered and nothing fades or moves any more."""
    answered(page)
    page.wait_for_function(
        "() => document.getAnimations().every(one => one.playState !== 'running')"
    )


def sent_by(page, act):
    """What the page asks the server when something is done, after all that was asked before."""
    answered(page)
    with page.expect_request(lambda request: "/v1/search" in request.url) as waiting:
        act()
    request, answer = waiting.value, waiting.value.response()
    assert answer.status == 200
    return request.post_data_json, answer.json()


def type_words(page, text="a red car and a dog on the beach"):
    """Enter words at the caret, at once: typed slowly, the page would ask for their beginning."""
    page.locator("#text").focus()
    page.keyboard.insert_text(text)
