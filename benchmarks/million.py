"""A library of a million pictures by one vector each: opening it, searching it, what it takes."""

import tempfile
import time
from collections.abc import Callable
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
        first = extra_memory(partial(_search, library, 1))
        took = {name: _seconds(work) for name, work in _works(library).items()}
        kept = sum(file.stat().st_size for file in library.rglob("*") if file.is_file()) / 2**20
    search = (took["searched again"] - took["opened and searched"]) / AGAIN
    return [
        Figure("opening it", took["opened"], 2.0, "lower", "s", "elapsed"),
        Figure("opening it and the first search", took["opened and searched"], None, unit="s"),
        Figure("every further search", search, None, unit="s", detail=f"best {K}, elapsed"),
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


def _works(folder: Path) -> dict[str, Callable[[], None]]:
    return {
        "opened": partial(_search, folder, 0),
        "opened and searched": partial(_search, folder, 1),
        "searched again": partial(_search, folder, 1 + AGAIN),
    }


def _search(folder: Path, times: int) -> None:
    with LibraryStore(folder) as library:
        searcher = Searcher(Flat(), library) if times else None
        for number in range(times):
            assert searcher is not None
            searcher.search(Query(text=f"anything {'x' * number}", k=K))


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
