"""Exact top-k by inner product: one pass over the rows in float32."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

from deixis.neighbours.estimates import Bounds, Estimates
from deixis.neighbours.inner_products import norms
from deixis.neighbours.neighbours import Neighbours
from deixis.neighbours.shortlist import Best, Shortlist
from deixis.shapes import Bool, Float32, Int64

ROWS = 32768  # of a block: smaller ones cost a single query as much again as the scan itself
QUERIES = 64  # answered together
SCORES = 2**24  # estimates kept at once, which bounds the memory
UNIT = 2.0**-24  # the relative error of one rounded float32 operation
TINY = 2.0**-126  # the absolute one: smaller numbers may become zero
LARGEST = 1e18  # a product of two lengths beyond it may overflow float32
SPARSE = 16  # where fewer than one row in 16 is allowed, gathering those takes less time


class Exact:
    """Compares a query with every row: the reference for every other engine."""

    def __init__(self, vectors: Float32[ndarray, "row dim"]) -> None:
        self.vectors = vectors
        self._longest: dict[int, float] = {}  # of a block, by its first row

    def search(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> Neighbours:
        """The k best allowed rows of each query, or all allowed ones when they are fewer."""
        count = int(np.count_nonzero(allowed))
        if count * SPARSE < len(allowed):
            return among(self.vectors, np.flatnonzero(allowed), queries, k)
        k = min(k, count)
        return joined([self._best(some, k, allowed) for some in groups(queries, allowed)], k)

    def _best(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> list[Best]:
        if k == 0:
            return [NOTHING] * len(queries)
        shortlist = Shortlist(self.vectors, queries, k)
        for first in range(0, len(allowed), ROWS):
            there = allowed[first : first + ROWS]
            if there.any():
                shortlist.see(self.estimates(queries, first), first, there)
        found = enumerate(shortlist.candidates())
        return [shortlist.best(query, some) for query, some in found]

    def estimates(self, queries: Float32[ndarray, "query dim"], first: int) -> Estimates:
        """The scores of a block of rows, with the error of a product in float32."""
        rows = self.vectors[first : first + ROWS]
        if first not in self._longest:
            self._longest[first] = float(norms(rows).max())
        longest, lengths = self._longest[first], norms(queries)
        one, none = np.ones(len(queries)), np.zeros(len(queries))
        if max(longest, lengths.max()) > LARGEST:  # nothing is known: every row is scored again
            unknown = np.zeros((len(queries), len(rows)), np.float32)
            errors = np.zeros(len(rows), np.float32)
            return Estimates(unknown, Bounds(one, none, none, errors, 0.0, one * np.inf))
        # However a sum of products is ordered, it errs by at most one unit per term.
        terms = queries.shape[1] + 4
        error = np.float32(UNIT * terms * longest * 1.001)
        errors, slack = np.full(len(rows), error), one * TINY * terms
        bounds = Bounds(one, none, lengths, errors, float(error), slack)
        return Estimates(queries @ rows.T, bounds)


def among(
    vectors: Float32[ndarray, "row dim"],
    rows: Int64[ndarray, " chosen"],
    queries: Float32[ndarray, "query dim"],
    k: int,
) -> Neighbours:
    """The k best of some rows, ascending, which are gathered first."""
    found = Exact(np.asarray(vectors[rows])).search(queries, k, np.ones(len(rows), dtype=bool))
    return Neighbours(rows[found.rows], found.scores)


NOTHING: Best = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))


def groups(
    queries: Float32[ndarray, "query dim"], allowed: Bool[ndarray, " row"]
) -> list[Float32[ndarray, "some dim"]]:
    """Queries that are answered together."""
    count = min(QUERIES, max(1, SCORES // max(1, len(allowed))))
    return [queries[start : start + count] for start in range(0, len(queries), count)]


def joined(best: Sequence[Sequence[Best]], k: int) -> Neighbours:
    """The answers of all groups."""
    every = [one for group in best for one in group]
    rows = np.array([rows for rows, _ in every], dtype=np.int64).reshape(len(every), k)
    scores = np.array([scores for _, scores in every], dtype=np.float32).reshape(len(every), k)
    return Neighbours(rows, scores)
