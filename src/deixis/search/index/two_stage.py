"""Sets and local vectors ranked in two stages: recalled by their best parts, scored by the model.

The first stage is one-way MaxSim: every part of the query takes the best part of a picture. A scan
of the parts in eight bits is enough for it. The second is the model's own similarity, exact and
dear, over the candidates alone.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.neighbours import exact
from deixis.neighbours.eight_bit_rows import EightBitQueries, quantise_queries
from deixis.neighbours.eight_bit_scan import EightBitScan
from deixis.neighbours.neighbours import Neighbours
from deixis.search.encoders.embedded_parts import EmbeddedParts
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.query.encode_queries import Vectors
from deixis.shapes import Bool, Float32, Int64

DEPTH = 500  # candidates the model scores
ITEMS = 256  # pictures scored at once


class TwoStageRanking:
    """Ranks pictures of several vectors each, stored in consecutive rows."""

    sample = 256  # pictures to calibrate by: the model's own score is expensive

    def __init__(
        self,
        vectors: Float32[ndarray, "row dim"],
        live: tuple[Int64[ndarray, " live"], Int64[ndarray, " live"]],
        encoder: SearchEncoder,
        folder: Path | None = None,
        depth: int = DEPTH,
    ) -> None:
        self._vectors, self._encoder, self._depth = vectors, encoder, depth
        self._scan = EightBitScan(vectors, folder)
        self._first, self._parts = live  # the first row of each picture, and how many it has

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
        """One-way MaxSim with every picture, from parts in eight bits."""
        coded = quantise_queries(query, twice=False)
        room = self._scan.room(coded)
        out, ends = np.empty(len(self._first), dtype=np.float32), self._first + self._parts
        done, low, tail = 0, 0, np.empty((len(query), 0), dtype=np.float32)
        for first in range(0, len(self._vectors), exact.ROWS):
            # A picture may begin in one block and end in the next.
            affinity = np.concatenate([tail, self._affinity(coded, first, room)], axis=1)
            high = low + affinity.shape[1]
            stop = int(np.searchsorted(ends, high, "right"))
            if stop > done:
                begin = self._first[done]
                out[done:stop] = _best_of_each(
                    affinity[:, begin - low : ends[stop - 1] - low],
                    self._first[done:stop] - begin,
                    self._parts[done:stop],
                )
            kept = min(high, int(self._first[stop])) if stop < len(out) else high
            done, low, tail = stop, kept, affinity[:, kept - low :]
        return out

    def _affinity(
        self, query: EightBitQueries, first: int, room: Float32[ndarray, " number"]
    ) -> Float32[ndarray, "asked row"]:
        found = self._scan.estimates(query, first, room)
        parts = found.bounds.scale, found.bounds.shift
        scale, shift = (part.astype(np.float32)[:, None] for part in parts)
        return np.asarray(found.values * scale + shift)

    def _scored(self, query: Vectors, items: Int64[ndarray, " item"]) -> Float32[ndarray, " item"]:
        asked = EmbeddedParts(query[None], np.ones((1, len(query)), dtype=bool))
        blocks = [
            self._encoder.score(asked, self._gathered(items[start : start + ITEMS]))[0]
            for start in range(0, len(items), ITEMS)
        ]
        return np.concatenate([np.empty(0, dtype=np.float32), *blocks])

    def _gathered(self, items: Int64[ndarray, " item"]) -> EmbeddedParts:
        places = np.arange(self._parts[items].max())
        mask = places < self._parts[items, None]
        rows = np.where(mask, self._first[items, None] + places, 0)
        return EmbeddedParts(np.asarray(self._vectors[rows]), mask)


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
