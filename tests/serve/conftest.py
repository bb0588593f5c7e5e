import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from browser import FLAGS, PATIENCE, chromium, serving
from fastapi.testclient import TestClient
from made_library import made_library

from deixis.serve.app import create_app
from fake_encoder import FakeEncoder


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return made_library(tmp_path)


@pytest.fixture
def client(library: Path) -> Iterator[TestClient]:
    with TestClient(create_app(library, load=lambda source: FakeEncoder()), LOCAL) as client:
        yield client


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def page(browser, library):
    """A page over a library whose stand-in model reads traces; errors of the page fail the test."""
    app = create_app(library, load=lambda source: FakeEncoder(), adding=True)
    with serving(app) as url:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if is_fault(said) else None)
        page.goto(url)
        page.get_by_text("40 pictures").wait_for()
        yield page
        context.close()
        assert errors == []


def is_fault(said):
    """Whether the console reports a fault of the page; refused requests have tests of their own."""
    return said.type == "error" and not said.text.startswith("Failed to load resource")


LOCAL = "http://localhost"
