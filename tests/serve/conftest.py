import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent.parent / "search"))

from fake_encoder import FakeEncoder
from fastapi.testclient import TestClient

from deixis.search.library import Library
from deixis.serve.app import create_app


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library of forty real picture files with labels, encoded by a stand-in."""
    pictures, folder = tmp_path / "pictures", tmp_path / "library"
    pictures.mkdir()
    random = np.random.default_rng(0)
    rows = []
    for number in range(40):
        pixels = random.integers(0, 255, (6, 8, 3), dtype=np.uint8)
        picture = Image.fromarray(pixels).resize((160, 120), Image.Resampling.NEAREST)
        picture.save(pictures / f"{number:02}.png")
        label = "dog" if number % 4 == 0 else "cat"
        rows.append(f'{{"file_name": "{number:02}.png", "label": "{label}"}}\n')
    (pictures / "metadata.jsonl").write_text("".join(rows))
    encoder = FakeEncoder()
    with Library.open_or_create(folder, encoder) as opened:
        assert opened.add([pictures], encoder).counts == {"added": 40}
    return folder


@pytest.fixture
def client(library: Path) -> Iterator[TestClient]:
    with TestClient(create_app(library, load=lambda source: FakeEncoder()), LOCAL) as client:
        yield client


LOCAL = "http://localhost"
