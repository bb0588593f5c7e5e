"""Exact top-k by inner product: a blocked matrix product and a streaming merge."""

import numpy as np
from jaxtyping import Bool, Float32, Int64
from numpy import ndarray

from deixis.search.index import Neighbours

# A block of scores is read again right after the product, so it should still lie in the cache.
QUERIES, ROWS = 64, 16384

# Rows in ascending order and their scores.
Best = tuple[Int64[ndarray, " _"], Float32[ndarray, " _"]]


class Exact:
    """Compares a query with every row: the default, and the judge of every other engine."""

    def __init__(self, vectors: Float32[ndarray, "row dim"]) -> None:
        self.vectors = vectors

    def search(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> Neighbours:
        """The k best allowed rows of each query, or all allowed ones when they are fewer."""
        k = min(k, int(np.count_nonzero(allowed)))
        rows = np.empty((len(queries), k), dtype=np.int64)
        scores = np.empty((len(queries), k), dtype=np.float32)
        if k > 0:
            for start in range(0, len(queries), QUERIES):
                best = self._best(queries[start : start + QUERIES], k, allowed)
                for query, (found, values) in enumerate(best, start):
                    order = np.argsort(-values, kind="stable")  # rows ascend, so ties keep them so
                    rows[query], scores[query] = found[order], values[order]
        return Neighbours(rows, scores)

    def _best(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> list[Best]:
        nothing = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
        best: list[Best] = [nothing] * len(queries)
        threshold = np.full((len(queries), 1), -np.inf, dtype=np.float32)
        for start in range(0, len(self.vectors), ROWS):
            scores = queries @ self.vectors[start : start + ROWS].T
            scores[:, ~allowed[start : start + ROWS]] = -np.inf
            # Strictly above: a later row never displaces an earlier one with the same score.
            above = scores > threshold
            for query in np.flatnonzero(above.any(axis=1)):
                found = np.flatnonzero(above[query])
                best[query] = _merge(best[query], (found + start, scores[query, found]), k)
                if len(best[query][1]) == k:
                    threshold[query] = best[query][1].min()
        return best


def _merge(held: Best, found: Best, k: int) -> Best:
    """Keep the k best of both, in row order; of equal scores at the border the lower rows."""
    rows = np.concatenate([held[0], found[0]])
    scores = np.concatenate([held[1], found[1]])
    if len(rows) <= k:
        return rows, scores
    border = np.partition(scores, len(scores) - k)[len(scores) - k]
    keep = scores > border
    tied = np.flatnonzero(scores == border)
    keep[tied[: k - np.count_nonzero(keep)]] = True
    return rows[keep], scores[keep]
