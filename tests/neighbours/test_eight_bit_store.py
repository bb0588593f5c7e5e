import numpy as np
import pytest

from deixis.neighbours import eight_bit_scan, exact
from deixis.neighbours.certified import Certified
from deixis.neighbours.eight_bit_store import eight_bit_blocks
from deixis.neighbours.exact import Exact


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(250, 8)).astype(np.float32)


def same(one, other):
    return np.array_equal(one[0], other[0]) and np.array_equal(one[1].error, other[1].error)


def test_full_blocks_are_kept_and_read_again(tmp_path, vectors):
    made = list(eight_bit_blocks(vectors, 100, tmp_path))
    kept = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(made) == 3
    assert sorted(kept) == ["000000.safetensors", "000001.safetensors"]
    read = list(eight_bit_blocks(vectors, 100, tmp_path))
    assert all(same(*pair) for pair in zip(made, read, strict=True))
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == kept


def test_smaller_blocks_of_an_earlier_version_are_replaced(tmp_path, vectors):
    list(eight_bit_blocks(vectors, 50, tmp_path))
    fresh = list(eight_bit_blocks(vectors, 100, None))
    found = list(eight_bit_blocks(vectors, 100, tmp_path))
    assert all(same(*pair) for pair in zip(fresh, found, strict=True))
    kept = sorted(file.name for file in tmp_path.iterdir())
    assert kept == ["000000.safetensors", "000001.safetensors"]


@pytest.mark.parametrize("damage", ["cut", "empty", "other vectors"])
def test_a_block_that_does_not_fit_is_made_again(tmp_path, vectors, damage):
    list(eight_bit_blocks(vectors, 100, tmp_path))
    path = tmp_path / "000001.safetensors"
    if damage == "other vectors":
        vectors = vectors.copy()
        vectors[150:] = vectors[150:][::-1]
    else:
        path.write_bytes(path.read_bytes()[:500] if damage == "cut" else b"")
    fresh = list(eight_bit_blocks(vectors, 100, None))
    found = list(eight_bit_blocks(vectors, 100, tmp_path))
    assert all(same(*pair) for pair in zip(fresh, found, strict=True))


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path, vectors):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert len(list(eight_bit_blocks(vectors, 100, blocked / "below"))) == 3


def test_kept_blocks_answer_as_the_plain_pass_does(tmp_path, vectors, monkeypatch):
    monkeypatch.setattr(eight_bit_scan, "FEWEST", 1)
    monkeypatch.setattr(exact, "ROWS", 100)
    allowed = np.ones(len(vectors), dtype=bool)
    for _ in range(2):  # made, then read
        engine = Certified(vectors, tmp_path, "unsigned")
        found, wanted = (e.search(vectors[:4], 9, allowed) for e in (engine, Exact(vectors)))
        assert np.array_equal(found.rows, wanted.rows)
        assert np.array_equal(found.scores, wanted.scores)
