"""Exact top-k from estimates with known errors: keep what may be among the best, score it again.

An engine estimates the scores of blocks of rows and says how far each estimate can be from the
truth. A row is a candidate when the most it can score reaches what the k-th best scores at least.
Candidates are scored by ``InnerProducts``, whose rounding does not depend on which rows are scored
together: every engine built on this gives the same rows, order and scores, whatever it estimates
with.
"""

import numpy as np
from numpy import ndarray

from deixis.neighbours.estimates import Bounds, Estimates, Reaching
from deixis.neighbours.inner_products import InnerProducts
from deixis.shapes import Bool, Float32, Float64, Int64

LARGEST_GROUP = 64  # rows of which only the best counts for the floor
GROUPS = 8  # times k: how many groups there are at least

# Rows, and the most each can score.
Candidates = tuple[Int64[ndarray, " candidate"], Float64[ndarray, " candidate"]]
# Queries, rows, and the most each of these pairs can score.
Found = tuple[Int64[ndarray, " found"], Int64[ndarray, " found"], Float64[ndarray, " found"]]
Best = tuple[Int64[ndarray, " k"], Float32[ndarray, " k"]]


class Contenders:
    """The pairs of queries and rows that may be among the k best of their query.

    A block is looked at once, while the processor's cache has it, and may then be overwritten: the
    best so far say already which of its rows may be among the best at the end.
    """

    def __init__(self, queries: int, k: int, rows: int, doubt: float = 1.0) -> None:
        """With ``doubt`` below one, that share of the largest error is taken for its bound.

        Then the floor is a guess, and pairs below it are only probably not among the best.
        """
        self._k, self._doubt = k, doubt
        self._group = max(1, min(LARGEST_GROUP, rows // (GROUPS * k)))
        self._floors = np.full((queries, k), -np.inf)  # what k rows score at least
        self._seen: list[tuple[int, Bounds, Reaching]] = []

    def see(self, block: Estimates, first: int) -> None:
        """Let the rows of a block compete, the first of them numbered ``first``."""
        for group in (self._group, 1):
            least = block.bounds.least(block.largest(group, self._k), self._doubt)
            if self._seen or least.shape[1] < self._k:
                floors = np.concatenate([self._floors, least], axis=1)
                least = np.partition(floors, -self._k, axis=1)[:, -self._k :]
            if not np.isneginf(least).any():
                break  # else the allowed rows lie in too few groups
        self._floors = least
        reaching = block.reaching(block.bounds.bar(self.floor))
        self._seen.append((first, block.bounds, reaching))

    @property
    def floor(self) -> Float64[ndarray, " query"]:
        """What the k-th best so far scores at least."""
        return np.asarray(self._floors.min(axis=1))

    def found(self) -> Found:
        """The pairs that may reach the floor, query by query."""
        if len(self._seen) == 1:  # whose pairs were found by this very floor
            return _most_above(self.floor, *self._seen[0])
        return found_above(self.floor, self._seen)


def found_above(
    floor: Float64[ndarray, " query"], seen: list[tuple[int, Bounds, Reaching]]
) -> Found:
    """The pairs of all blocks that may reach the floor of their query, query by query."""
    found = [_above(floor, *block) for block in seen]
    query, row, most = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(query.astype(np.uint16), kind="stable")  # 16 bits sort by counting
    return query[order], row[order], most[order]


def _above(
    floor: Float64[ndarray, " query"], first: int, bounds: Bounds, reaching: Reaching
) -> Found:
    high = np.flatnonzero(reaching.value >= bounds.bar(floor)[reaching.query])
    return _most_above(floor, first, bounds, reaching.chosen(high))


def _most_above(
    floor: Float64[ndarray, " query"], first: int, bounds: Bounds, reaching: Reaching
) -> Found:
    most = bounds.most(reaching)
    kept = most >= floor[reaching.query]
    return reaching.query[kept], first + reaching.row[kept], most[kept]


class Shortlist:
    """The rows that may be among the k best of each query, and which of them are."""

    def __init__(
        self, vectors: Float32[ndarray, "row dim"], queries: Float32[ndarray, "query dim"], k: int
    ) -> None:
        self._scores, self._queries, self._k = InnerProducts(vectors), queries, k
        self._contenders = Contenders(len(queries), k, len(vectors))

    def see(self, block: Estimates, first: int, allowed: Bool[ndarray, " row"]) -> None:
        """Let the allowed rows of a block compete, the first of them numbered ``first``."""
        if not allowed.all():
            block.values[:, ~allowed] = -np.inf
        self._contenders.see(block, first)

    def candidates(self) -> list[Candidates]:
        """The rows that may be among the best of each query, and the most each can score."""
        query, row, most = self._contenders.found()
        if len(self._queries) == 1:
            return [(row, most)]
        edges = np.searchsorted(query, np.arange(1, len(self._queries)))
        return list(zip(np.split(row, edges), np.split(most, edges), strict=True))

    def best(self, query: int, candidates: Candidates) -> Best:
        """The k best candidates; the most promising come first and spare many of the others."""
        rows, most = candidates
        order = np.argpartition(-most, self._k - 1)
        first, later = rows[order[: self._k]], order[self._k :]
        scores = self._scores(first, self._queries[query])
        left = rows[later[most[later] >= scores.min()]]
        rows = np.concatenate([first, left])
        scores = np.concatenate([scores, self._scores(left, self._queries[query])])
        best = np.lexsort((rows, -scores))[: self._k]
        return rows[best], scores[best]
