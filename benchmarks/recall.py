"""Recall against time of the approximate engine: 100,000 vectors, one query at a time."""

import time
from copy import copy

import numpy as np
from numpy import ndarray

from benchmarks.harness import Figure, interleaved
from benchmarks.search import BATCH, DIM, ITEMS, unit
from deixis.neighbours.exact import Exact
from deixis.search.index.ivf import SHARE, Ivf

SHARES = (1 / 32, 1 / 16, 1 / 8, SHARE, 1 / 2)
HIDDEN = 48  # directions along which simulated vectors differ most
TINY = {"ITEMS": 3_000, "DIM": 16}


def figures() -> list[Figure]:
    vectors, queries = simulated(ITEMS, 1), simulated(BATCH, 2)
    started = time.process_time()
    first = Ivf(vectors)
    built = time.process_time() - started
    engines = [copy(first) for _ in SHARES]  # the same cells, more of them looked into
    for engine, share in zip(engines, SHARES, strict=True):
        engine._share = share
    exact, *found = interleaved(3, *(one_by_one(e, queries) for e in (Exact(vectors), *engines)))
    out = [Figure("building the cells", built, None, unit="s", detail=f"{ITEMS:,} × {DIM}")]
    for share, timed in zip(SHARES, found, strict=True):
        chosen = share == SHARE
        name = f"{share:.0%} of the cells" + (", the default" if chosen else "")
        each = f"{1e3 * timed.seconds / BATCH:.2f} ms beside {1e3 * exact.seconds / BATCH:.2f} ms"
        ten, hundred = (recall(timed.result, exact.result, k) for k in (10, 100))
        goal = 0.95 if chosen else None
        out.append(Figure(f"{name}: recall@10", ten, goal, unit=""))
        out.append(Figure(f"{name}: recall@100", hundred, None, unit=""))
        speed = exact.seconds / timed.seconds
        out.append(Figure(f"{name}: speed over exact", speed, 3 if chosen else None, detail=each))
    return out


def simulated(count: int, seed: int) -> ndarray:
    """Vectors that differ along few directions mostly, as those of trained models do."""
    random, directions = np.random.default_rng(seed), np.random.default_rng(0)
    spread = np.linspace(2, 0.3, HIDDEN)[:, None] / np.sqrt(HIDDEN)
    hidden = random.normal(size=(count, HIDDEN)) @ (spread * directions.normal(size=(HIDDEN, DIM)))
    return unit(hidden + 0.35 * random.normal(size=(count, DIM)))


def one_by_one(engine, queries: ndarray):
    allowed = np.ones(ITEMS, dtype=bool)
    return lambda: np.concatenate([engine.search(q[None], 100, allowed).rows for q in queries])


def recall(found: ndarray, wanted: ndarray, k: int) -> float:
    pairs = zip(found[:, :k], wanted[:, :k], strict=True)
    return float(np.mean([len(set(a) & set(b)) / k for a, b in pairs]))
