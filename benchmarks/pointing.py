"""What pointing adds to a search of 100,000 pictures, on simulated vectors and cells.

How many pictures the text must recall is measured by `python -m benchmarks.recall_depth`.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from numpy import ndarray

from benchmarks.harness import Figure, interleaved
from deixis.runs.places.place_head import PlaceHead, StoredCells
from deixis.runs.run import Run
from deixis.search.encoders.load_encoder import PACKAGED, load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.manifest import FileEntry
from deixis.search.places.named_places import drawing_at
from deixis.search.places.place_ranking import recall_depth
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from deixis.similarity.places.place_score import PlaceScore

ITEMS, REPEATS, GOAL = 100_000, 15, 60.0  # goal in milliseconds of CPU time
TINY = {"ITEMS": 300, "REPEATS": 2}
TEXT = "a dog, a man in a red shirt and two children"
PLACES = {
    "a dog": (0.1, 0.4, 0.5, 0.9),
    "a man": (0.6, 0.9, 0.1, 0.8),
    "two children": (0.3, 0.6, 0.4, 0.7),
}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        run = _placed(Path(folder) / "run")
        encoder = load_encoder(run)
        _fill(Path(folder) / "library", encoder)
        with LibraryStore(Path(folder) / "library") as library:
            searcher = Searcher(encoder, library)
            plain = Query(text=TEXT)
            pointed = Query(text=TEXT, drawing=drawing_at(TEXT, PLACES))
            for query in (plain, pointed):  # graphs are loaded, scans are made
                searcher.search(query)
            bare, ours = interleaved(
                REPEATS, lambda: searcher.search(plain), lambda: searcher.search(pointed)
            )
    added = 1e3 * (ours.seconds - bare.seconds)
    detail = f"{1e3 * ours.seconds:.1f} ms, the text alone {1e3 * bare.seconds:.1f} ms"
    name = f"three places among {ITEMS:,} pictures, {recall_depth(ITEMS):,} re-ordered: added CPU"
    return [Figure(name, added, GOAL if ITEMS == 100_000 else None, "lower", "ms", detail)]


def _placed(folder: Path) -> Path:
    """The packaged model with a random place head of the usual size."""
    shutil.copytree(PACKAGED, folder)
    random = np.random.default_rng(0)
    sizes = {"cell": (64, 2792), "hidden": (768, 768), "out": (64, 768)}
    weights = {f"{name}.weight": _floats(random, *size) for name, size in sizes.items()}
    weights |= {f"{name}.bias": np.zeros(size[0], np.float32) for name, size in sizes.items()}
    weights |= {"norm.weight": np.ones(768, np.float32), "norm.bias": np.zeros(768, np.float32)}
    weights |= {"log_scale": np.array(2.2, np.float32), "anything": _floats(random, 64)}
    head = PlaceHead(weights, PlaceScore(), "cells-int8", "minilm-int8")
    head.write(Run(folder).path("places"))
    return folder


def _fill(folder: Path, encoder: SearchEncoder) -> None:
    """A library as if its pictures had been indexed: random unit vectors, random cells."""
    random = np.random.default_rng(1)
    LibraryStore.open_or_create(folder, encoder).close()
    with LibraryStore(folder) as library:
        for first in range(0, ITEMS, 1_000):
            names = [f"{i:032x}" for i in range(first, min(first + 1_000, ITEMS))]
            rows = _floats(random, len(names), 1, encoder.dim)
            rows /= np.linalg.norm(rows, axis=2, keepdims=True)
            cells = random.integers(-127, 128, (len(names), 1, 81, 64), dtype=np.int8)
            scale = np.full(1, 1 / 400, np.float32)
            library.generation.write(
                dict(zip(names, rows, strict=True)),
                [FileEntry(f"/pictures/{name}.jpg", 1, 1, name) for name in names],
                [],
                None,
                {name: StoredCells(own, scale) for name, own in zip(names, cells, strict=True)},
            )


def _floats(random: np.random.Generator, *shape: int) -> ndarray:
    return random.normal(size=shape).astype(np.float32)
