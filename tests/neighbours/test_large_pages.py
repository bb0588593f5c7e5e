"""Memory is moved into large pages without a change to what is in it, and only where it is full."""

import mmap

import numpy as np
import pytest

from deixis.neighbours import large_pages
from deixis.neighbours.large_pages import LARGE, PAGE, use_large_pages

SHOWN = large_pages.MAPS
GIVEN = large_pages.MAPS.with_name("status")


def in_use() -> float:
    """Megabytes of memory that this process has."""
    line = next(row for row in GIVEN.read_text().splitlines() if row.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


pytestmark = pytest.mark.skipif(not SHOWN.exists(), reason="only Linux shows where memory lies")


def test_contents_stay_and_memory_that_is_not_full_stays_small():
    full, sparse = mmap.mmap(-1, 8 * LARGE), mmap.mmap(-1, 64 * LARGE)
    numbers = np.frombuffer(full, np.uint32)
    numbers[:] = np.arange(len(numbers))
    np.frombuffer(sparse, np.uint8)[::LARGE] = 7  # one small page of each large one
    before = in_use()
    use_large_pages()
    assert in_use() < before + 8  # megabytes; large pages for all of it would add 126
    assert np.array_equal(numbers, np.arange(len(numbers)))
    assert np.frombuffer(sparse, np.uint8)[:: LARGE // 2].tolist() == [7, 0] * 64


def test_only_what_every_small_page_fills_is_moved():
    area = mmap.mmap(-1, 6 * LARGE)
    held = np.frombuffer(area, np.uint8)
    start = -(-held.ctypes.data // LARGE) * LARGE
    filled = held[start - held.ctypes.data :][: 3 * LARGE]
    filled[: LARGE + PAGE], filled[2 * LARGE :] = 1, 1
    system = large_pages.ctypes.CDLL(None)
    found = list(large_pages._filled(system, start, start + 3 * LARGE))
    assert found == [(start, start + LARGE), (start + 2 * LARGE, start + 3 * LARGE)]


def test_a_system_that_shows_nothing_is_no_obstacle(monkeypatch, tmp_path):
    monkeypatch.setattr(large_pages, "MAPS", tmp_path / "nothing")
    use_large_pages()
