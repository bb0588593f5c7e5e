from pathlib import Path

import pytest

from fake_encoder import FakeEncoder


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder of five files that stand for pictures, one of them in a folder of its own."""
    folder = tmp_path / "pictures"
    (folder / "inner").mkdir(parents=True)
    for name in ("a", "b", "c", "d"):
        (folder / f"{name}.jpg").write_bytes(f"picture {name}".encode())
    (folder / "inner" / "e.PNG").write_bytes(b"picture e")
    (folder / "notes.txt").write_text("not a picture")
    return folder
