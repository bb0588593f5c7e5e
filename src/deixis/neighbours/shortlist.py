"""Exact top-k from estimates with known errors: keep what may be among the best, score it again.

An engine estimates the scores of blocks of rows and says how far each estimate can be from the
truth. A row is a candidate when the most it can score reaches what the k-th best scores at least.
Candidates are scored by ``inner_products``, whose rounding does not depend on which rows are scored
together: every engine built on this gives the same rows, order and scores, whatever it estimates
with.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from numpy import ndarray

LARGEST_GROUP = 64  # rows of which only the best counts for the floor
GROUPS = 8  # times k: how many groups there are at least
BLOCK = 2048  # rows widened to float64 at once

# Rows, and the most each can score.
Candidates = tuple[Int64[ndarray, " candidate"], Float64[ndarray, " candidate"]]
Best = tuple[Int64[ndarray, " k"], Float32[ndarray, " k"]]


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimated scores of a block of rows, ``scale * values + shift`` per query.

    The score of query q and row x, also once it is rounded to float32, is at most
    ``reach[q] * errors[x] + slack[q]`` away from it.
    """

    values: Float32[ndarray, "query row"]
    scale: Float64[ndarray, " query"]
    shift: Float64[ndarray, " query"]
    reach: Float64[ndarray, " query"]
    errors: Float32[ndarray, " row"]
    slack: Float64[ndarray, " query"]

    def floors(self, group: int) -> Float64[ndarray, "query group"]:
        """What the best row of each group scores at least."""
        return self.peaks(group) - self.margin[:, None]

    def peaks(self, group: int) -> Float64[ndarray, "query group"]:
        """The largest estimate of each group; rows of a group are far apart."""
        count, rows = self.values.shape
        whole = rows - rows % group
        best = self.values[:, :whole].reshape(count, group, -1).max(axis=1)
        best = np.concatenate([best, self.values[:, whole:]], axis=1)
        return np.asarray(self.scale[:, None] * best + self.shift[:, None])

    def reaching(
        self, floor: Float64[ndarray, " query"]
    ) -> tuple[Int64[ndarray, " found"], Int64[ndarray, " found"], Float64[ndarray, " found"]]:
        """Query and row, in order, wherever a score may reach the floor, and the most it can be."""
        with np.errstate(over="ignore"):  # a bar beyond float32 is one that nothing reaches
            bar = ((floor - self.margin - self.shift) / self.scale).astype(np.float32)
        above = self.values >= np.nextafter(bar, np.float32(-np.inf))[:, None]
        if np.isneginf(bar).any():  # then rows that are not allowed reach it as well
            above &= self.values > -np.inf
        places = np.flatnonzero(above)
        query, row = np.divmod(places, self.values.shape[1])
        score = self.values.ravel()[places].astype(np.float64)
        most = self.scale[query] * score + self.shift[query]
        most += self.reach[query] * self.errors[row] + self.slack[query]
        kept = most >= floor[query]
        return query[kept], row[kept], most[kept]

    @property
    def margin(self) -> Float64[ndarray, " query"]:
        """The largest error that any estimate of a query can have."""
        return self.reach * float(self.errors.max(initial=0)) + self.slack


class Shortlist:
    """The rows that may be among the k best of each query."""

    def __init__(self, queries: Float32[ndarray, "query dim"], k: int, rows: int) -> None:
        self._queries, self._k = queries, k
        self._group = max(1, min(LARGEST_GROUP, rows // (GROUPS * k)))
        self._seen: list[tuple[int, Estimates]] = []
        self._floors: list[Float64[ndarray, "query group"]] = []

    def see(self, block: Estimates, first: int, allowed: Bool[ndarray, " row"]) -> None:
        """Let the allowed rows of a block compete, the first of them numbered ``first``."""
        if not allowed.all():
            values = np.where(allowed, block.values, np.float32(-np.inf))
            block = replace(block, values=values)
        self._seen.append((first, block))
        self._floors.append(block.floors(self._group))

    def candidates(self) -> list[Candidates]:
        """The rows that may be among the best of each query, and the most each can score."""
        floor = self._floor()
        found = [(first, *block.reaching(floor)) for first, block in self._seen]
        query = np.concatenate([query for _, query, _, _ in found])
        row = np.concatenate([first + row for first, _, row, _ in found])
        most = np.concatenate([most for *_, most in found])
        order = np.argsort(query.astype(np.uint16), kind="stable")  # 16 bits sort by counting
        edges = np.searchsorted(query[order], np.arange(1, len(floor)))
        return list(zip(np.split(row[order], edges), np.split(most[order], edges), strict=True))

    def _floor(self) -> Float64[ndarray, " query"]:
        """What the k-th best scores at least."""
        floor = kth(np.concatenate(self._floors, axis=1), self._k)
        if np.isneginf(floor).any():  # the allowed rows lie in too few groups
            every = [block.floors(1) for _, block in self._seen]
            floor = kth(np.concatenate(every, axis=1), self._k)
        return floor

    def best(
        self,
        vectors: Float32[ndarray, "row dim"],
        query: int,
        candidates: Candidates,
    ) -> Best:
        """The k best candidates; the most promising come first and spare many of the others."""
        rows, most = candidates
        order = np.argpartition(-most, self._k - 1)
        first, later = rows[order[: self._k]], order[self._k :]
        scores = inner_products(vectors[first], self._queries[query])
        left = rows[later[most[later] >= scores.min()]]
        rows = np.concatenate([first, left])
        scores = np.concatenate([scores, inner_products(vectors[left], self._queries[query])])
        best = np.lexsort((rows, -scores))[: self._k]
        return rows[best], scores[best]


def kth(values: Float64[ndarray, "query value"], k: int) -> Float64[ndarray, " query"]:
    """The k-th largest of each row; minus infinity where there are fewer."""
    if values.shape[1] < k:
        return np.full(len(values), -np.inf)
    return np.partition(values, -k, axis=1)[:, -k]


def inner_products(
    rows: Float32[ndarray, "row dim"], query: Float32[ndarray, " dim"]
) -> Float32[ndarray, " row"]:
    """Inner products summed in float64, row by row, and rounded once.

    A matrix product may sum in another order when it is given other rows beside these; then two
    engines could order near-equal rows differently.
    """
    wide, out = query.astype(np.float64), np.empty(len(rows), dtype=np.float32)
    with np.errstate(over="ignore"):  # beyond float32 a score is infinite
        for start in range(0, len(rows), BLOCK):
            some = rows[start : start + BLOCK].astype(np.float64)
            out[start : start + BLOCK] = np.vecdot(some, wide)
    return out


def norms(vectors: Float32[ndarray, "row dim"]) -> Float64[ndarray, " row"]:
    """The length of each row, in float64."""
    wide = vectors.astype(np.float64)
    return np.sqrt(np.vecdot(wide, wide))
