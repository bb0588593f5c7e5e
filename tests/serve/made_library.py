"""A library of real picture files with labels, encoded by a stand-in."""

from pathlib import Path

import numpy as np
from PIL import Image

from deixis.search.library.library_store import LibraryStore
from fake_encoder import FakeEncoder


def made_library(parent: Path, count: int = 40) -> Path:
    """Draw the pictures into ``pictures`` and index them into ``library``."""
    pictures, folder = parent / "pictures", parent / "library"
    pictures.mkdir()
    random = np.random.default_rng(0)
    rows = []
    for number in range(count):
        pixels = random.integers(0, 255, (6, 8, 3), dtype=np.uint8)
        picture = Image.fromarray(pixels).resize((160, 120), Image.Resampling.NEAREST)
        picture.save(pictures / f"{number:02}.png")
        label = "dog" if number % 4 == 0 else "cat"
        rows.append(f'{{"file_name": "{number:02}.png", "label": "{label}"}}\n')
    (pictures / "metadata.jsonl").write_text("".join(rows))
    encoder = FakeEncoder()
    with LibraryStore.open_or_create(folder, encoder) as opened:
        assert opened.add([pictures], encoder).counts == {"added": count}
    return folder
