"""A library of a million pictures by one vector each: opening it, searching it, what it takes."""

import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import benchmarks.search as one_vector
from benchmarks.harness import Figure, extra_memory
from benchmarks.search import Flat, filled
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher

ITEMS, K, AGAIN = 1_000_000, 100, 5
STRIP = 50_000  # rows drawn at once
TINY = {"ITEMS": 20_000, "STRIP": 5_000}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        raw = _fill(library) / 2**20
        first = extra_memory(partial(_searches, library))  # rows in eight bits are made and kept
        opened, searches = _searches(library)
        kept = sum(file.stat().st_size for file in library.rglob("*") if file.is_file()) / 2**20
    again = statistics.median(searches[1:])
    return [
        Figure("opening it, ready to search", opened, 2.0, "lower", "s", "elapsed"),
        Figure("the first search", searches[0], None, unit="s", detail="elapsed, with calibration"),
        Figure("every further search", again, None, unit="s", detail=f"best {K}, elapsed"),
        Figure("memory of the first search beside its vectors", first / raw, 1.35, "lower"),
        Figure("its folder beside its vectors", kept / raw, None, detail=f"{kept:.0f} MB"),
    ]


def _fill(folder: Path) -> int:
    random = np.random.default_rng(0)
    vectors = np.empty((ITEMS, one_vector.DIM), np.float32)
    for start in range(0, ITEMS, STRIP):
        some = random.standard_normal((min(STRIP, ITEMS - start), vectors.shape[1]), np.float32)
        vectors[start : start + len(some)] = one_vector.unit(some)
    filled(folder, Flat(), vectors)
    return vectors.nbytes


def _searches(folder: Path) -> tuple[float, list[float]]:
    """How long opening a library takes, and each search in it."""
    started = time.perf_counter()
    with LibraryStore(folder) as library:
        searcher = Searcher(Flat(), library)
        opened, took = time.perf_counter() - started, []
        for number in range(1 + AGAIN):
            started = time.perf_counter()
            searcher.search(Query(text=f"anything {'x' * number}", k=K))
            took.append(time.perf_counter() - started)
    return opened, took
