"""Every attack that once broke something, kept as a test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for room in ("search", "serve"):
    sys.path.insert(0, str(Path(__file__).parent.parent / room))

from fastapi.testclient import TestClient
from made_library import made_library

from deixis.serve.app import create_app
from fake_encoder import FakeEncoder


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return made_library(tmp_path)


@pytest.fixture
def client(library: Path) -> Iterator[TestClient]:
    app = create_app(library, load=lambda source: FakeEncoder())
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        yield client
