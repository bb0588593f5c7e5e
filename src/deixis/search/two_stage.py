"""Sets and local vectors ranked in two stages: recalled by their best parts, scored by the model.

The first stage is one-way MaxSim: every part of the query takes the best part of a picture. It
needs one matrix product, over vectors shortened to their main directions, and misses little. The
second is the model's own similarity, exact and dear, over the candidates alone.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float32, Int64
from numpy import ndarray

from deixis.search.asking import Vectors
from deixis.search.encoder import Encoder
from deixis.search.index import Neighbours
from deixis.search.manifest import Content
from deixis.search.parts import Parts

DEPTH = 500  # candidates the model scores
ROWS = 16384  # rows compared at once, so that their products stay in the cache
ITEMS = 256  # pictures scored at once
SHORT = 64  # dimensions below which shortening does not pay
KEPT = 3 / 8  # share of the dimensions kept
LEARN = 4096  # rows from which the main directions are learnt


class TwoStageRanking:
    """Ranks pictures of several vectors each, which lie in consecutive rows."""

    sample = 256  # pictures to calibrate by: the model's own score is dear

    def __init__(
        self,
        vectors: Float32[ndarray, "row dim"],
        live: Sequence[Content],
        encoder: Encoder,
        depth: int = DEPTH,
    ) -> None:
        self._vectors, self._encoder, self._depth = vectors, encoder, depth
        self._first = np.array([content.row for content in live], dtype=np.int64)
        self._parts = np.array([content.parts for content in live], dtype=np.int64)

    def best(
        self, queries: Sequence[Vectors], k: int, allowed: Bool[ndarray, " all"]
    ) -> Neighbours:
        """The k best allowed pictures, each by its first row."""
        items = np.flatnonzero(allowed[self._first])
        k = min(k, len(items))
        rows, scores = np.empty((len(queries), k), dtype=np.int64), []
        for number, query in enumerate(queries):
            candidates = self._recalled(query, items, max(self._depth, k))
            own = self._scored(query, candidates)
            order = np.lexsort((candidates, -own))[:k]
            rows[number] = self._first[candidates[order]]
            scores.append(own[order])
        found = np.stack(scores) if scores else np.empty((0, k), dtype=np.float32)
        return Neighbours(rows, found)

    def scores(self, query: Vectors, rows: Int64[ndarray, " row"]) -> Float32[ndarray, " row"]:
        """The model's scores of some pictures."""
        return self._scored(query, np.searchsorted(self._first, rows))

    def _recalled(
        self, query: Vectors, items: Int64[ndarray, " item"], depth: int
    ) -> Int64[ndarray, " candidate"]:
        if len(items) <= depth:
            return items
        coarse = self._coarse(query)[items]
        chosen = np.argpartition(coarse, len(coarse) - depth)[len(coarse) - depth :]
        return np.sort(items[chosen])

    def _coarse(self, query: Vectors) -> Float32[ndarray, " live"]:
        """One-way MaxSim of shortened vectors with every picture, some rows at a time."""
        asked = query @ self._directions
        out = np.empty(len(self._first), dtype=np.float32)
        ends = self._first + self._parts
        start = 0
        while start < len(out):
            stop = max(start + 1, int(np.searchsorted(ends, self._first[start] + ROWS, "right")))
            low = self._first[start]
            affinity = asked @ self._shortened[:, low : ends[stop - 1]]
            out[start:stop] = _best_of_each(
                affinity, self._first[start:stop] - low, self._parts[start:stop]
            )
            start = stop
        return out

    @cached_property
    def _directions(self) -> Float32[ndarray, "dim short"]:
        """The directions in which rows differ most, orthonormal: products lose least along them."""
        dim = self._vectors.shape[1]
        if dim < SHORT:
            return np.eye(dim, dtype=np.float32)
        step = max(1, len(self._vectors) // LEARN)
        rows = self._vectors[::step]
        _, directions = np.linalg.eigh(rows.T @ rows)  # of ascending strength
        return np.ascontiguousarray(directions[:, -int(KEPT * dim) :])

    @cached_property
    def _shortened(self) -> Float32[ndarray, "short row"]:
        """Every row along the main directions; one direction after the other multiplies faster."""
        return np.ascontiguousarray((self._vectors @ self._directions).T)

    def _scored(self, query: Vectors, items: Int64[ndarray, " item"]) -> Float32[ndarray, " item"]:
        asked = Parts(query[None], np.ones((1, len(query)), dtype=bool))
        blocks = [
            self._encoder.score(asked, self._gathered(items[start : start + ITEMS]))[0]
            for start in range(0, len(items), ITEMS)
        ]
        return np.concatenate([np.empty(0, dtype=np.float32), *blocks])

    def _gathered(self, items: Int64[ndarray, " item"]) -> Parts:
        places = np.arange(self._parts[items].max())
        mask = places < self._parts[items, None]
        rows = np.where(mask, self._first[items, None] + places, 0)
        return Parts(np.asarray(self._vectors[rows]), mask)


def _best_of_each(
    affinity: Float32[ndarray, "asked row"],
    first: Int64[ndarray, " item"],
    parts: Int64[ndarray, " item"],
) -> Float32[ndarray, " item"]:
    """The mean over the query's parts of the best row of each picture."""
    count = int(parts[0])
    if affinity.shape[1] == count * len(parts) and (parts == count).all():
        # Sets of one size lie side by side: a few maxima of whole columns beat a search for edges.
        best = affinity[:, ::count]
        for part in range(1, count):
            best = np.maximum(best, affinity[:, part::count])
        return np.asarray(best.mean(axis=0))
    edges = np.stack([first, first + parts], axis=1).ravel()
    closed = np.pad(affinity, ((0, 0), (0, 1)), constant_values=-np.inf)  # the last edge is the end
    return np.asarray(np.maximum.reduceat(closed, edges, axis=1)[:, ::2].mean(axis=0))
