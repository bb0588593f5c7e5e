"""Remake the screenshots of the documentation: python checks/screenshots.py.

A real server, looked at by a real Chromium: over photographs of scikit-image and scikit-learn
(`pip install --no-deps scikit-image scikit-learn`) with the packaged model, and over the demo's
held-out scenes.
"""

import math
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from photograph_gallery import write_gallery
from playwright.sync_api import sync_playwright

from deixis.runs.advance import silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.find_corpus import find_corpus
from deixis.search.encoders.load_encoder import PHOTOS, SCENES
from deixis.search.library.library import Library
from deixis.serve.app import create_app

DOCS = Path(__file__).parents[1] / "docs"
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]


def main() -> None:
    """Index photographs and scenes, serve them, and take every picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("there is no chromium here; `make browser` installs it where it can")
    with (
        tempfile.TemporaryDirectory(prefix="deixis-") as folder,
        serving(_photographs(Path(folder))) as photographs,
        serving(_scenes(Path(folder))) as scenes,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        _pointing_page(browser, photographs)
        _library_page(browser, scenes)
        _why_page(browser, scenes)
        browser.close()
    print("wrote", *sorted(path.name for path in DOCS.glob("search-*.jpg")))


def _photographs(folder: Path) -> Path:
    write_gallery(folder / "Pictures")
    Library(folder / "photographs", PHOTOS).add(folder / "Pictures")
    return folder / "photographs"


def _scenes(folder: Path) -> Path:
    scenes = find_corpus(DataSpec(image="regions"), silent).split("test")
    pictures = scenes.path(0).parent
    # The page shows where a file lies, which should not be somebody's home; regions lie beside it.
    shutil.copytree(pictures.parent, folder / "scenes")
    Library(folder / "library", SCENES).add(folder / "scenes" / pictures.name)
    return folder / "library"


@contextmanager
def serving(library: Path) -> Iterator[str]:
    """Serve a library on a free port of this machine."""
    server = uvicorn.Server(uvicorn.Config(create_app(library), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


def _library_page(browser: Any, url: str) -> None:
    for name, size, scheme in (("library", WIDE, "light"), ("phone", PHONE, "dark")):
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.goto(url)
        page.wait_for_selector(".tries button")
        _take(page, f"search-{name}.jpg")
        page.close()


def _pointing_page(browser: Any, url: str) -> None:
    page = browser.new_page(viewport=WIDE, color_scheme="light")
    page.goto(url)
    page.locator("#text").press_sequentially("an orange flower")
    page.wait_for_selector(".phrases button")
    _circle(page, 0.72, 0.5, 0.2)
    page.get_by_text("Looked for “orange flower” at the right").wait_for()
    page.locator("#results summary").click()
    _take(page, "search-box.jpg")
    page.close()


def _why_page(browser: Any, url: str) -> None:
    page = browser.new_page(viewport=WIDE, color_scheme="light")
    page.goto(url)
    page.locator("#text").press_sequentially("a yellow flower")
    page.wait_for_selector(".phrases button")
    _circle(page, 0.25, 0.3)
    page.locator("#text").press_sequentially(" and a purple clock")
    page.get_by_text("Looked for “yellow flower” at the top left and “purple clock”").wait_for()
    page.locator("#results .card:visible").first.click()
    page.wait_for_selector(".why button")
    page.locator(".why button", has_text="flower").hover()
    _take(page, "search-why.jpg")
    page.close()


def _circle(page: Any, x: float, y: float, radius: float = 0.1) -> None:
    box = page.locator(".paper").bounding_box()
    for step in range(25):
        angle = step * math.pi / 12
        across, down = x + radius * math.cos(angle), y + radius * math.sin(angle)
        page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
        if step == 0:
            page.mouse.down()
    page.mouse.up()


def _take(page: Any, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)  # what fades in has come
    page.screenshot(path=DOCS / name, type="jpeg", quality=85)


if __name__ == "__main__":
    main()
