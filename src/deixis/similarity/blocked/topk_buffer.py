"""The best items of many queries, kept while blocks of scores stream by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError

NOTHING = np.iinfo(np.int64).min
LAST = 2**32 - 1  # the lower half of a key counts down from here
MAGNITUDE = np.int32(2**31 - 1)  # every bit of a float32 but its sign
STRIP = 256  # queries that compete at once; bounds the extra memory
SAMPLE = 8  # times k: how many items give a first bar


@dataclass(frozen=True)
class Nearest:
    """The best items of each query, best first; of equal scores the lower index first."""

    items: Int[ndarray, "query k"]
    scores: Float[ndarray, "query k"]


class TopKBuffer:
    """The k best items of each query so far.

    An item is one whole number, score above, index below, so that selecting is exact where
    selecting by score alone would be arbitrary among ties. Blocks must arrive in the order of
    items: then a score that only equals the worst kept one has lost, and one comparison per score
    finds the few that still compete.
    """

    def __init__(self, queries: int, items: int, k: int) -> None:
        self.keys: Int[ndarray, "query k"] = np.full((queries, min(k, items)), NOTHING)

    def add(self, scores: Float[ndarray, "query item"], queries: slice, first: int) -> None:
        """Let a block's items compete, the first of them numbered ``first``.

        The block may be a transposed view; it is read in the order it lies in memory.
        """
        keys = self.keys[queries]
        for start in range(0, len(scores), STRIP):
            some = slice(start, start + STRIP)
            keys[some] = _competed(keys[some], scores[some], first)

    def nearest(self) -> Nearest:
        """What is best so far, in order."""
        best = np.sort(self.keys, axis=1)[:, ::-1]
        return Nearest(LAST - (best & LAST), _score(best))


def nearest_listed(
    queries: Int[ndarray, " candidate"],
    items: Int[ndarray, " candidate"],
    scores: Float[ndarray, " candidate"],
    count: int,
    k: int,
) -> Nearest:
    """The k best of listed candidates, which come query by query, for a given number of queries.

    A query with fewer has scores of minus infinity in the missing places.
    """
    best = TopKBuffer(count, k, k)
    listed = _ragged(queries, _keys(scores, items), count)
    joint = np.concatenate([best.keys, listed], axis=1)
    best.keys = np.partition(joint, -k, axis=1)[:, -k:]
    return best.nearest()


def merge_nearest(parts: Sequence[Nearest], k: int) -> Nearest:
    """The k best of several lists per query, none of whose items is in two of them."""
    queries, k = len(parts[0].items), min(k, sum(part.items.shape[1] for part in parts))
    best = TopKBuffer(queries, k, k)
    keys = [_keys(part.scores.ravel(), part.items.ravel()).reshape(queries, -1) for part in parts]
    best.keys = np.partition(np.concatenate(keys, axis=1), -k, axis=1)[:, -k:]
    return best.nearest()


def _competed(
    best: Int[ndarray, "query k"], scores: Float[ndarray, "query item"], first: int
) -> Int[ndarray, "query k"]:
    if np.isnan(scores.max()):
        raise EvaluationError("a score is NaN; nothing was selected")
    k = best.shape[1]
    worst = best.min(axis=1)
    if (worst == NOTHING).any():
        beats = scores >= np.maximum(_score(worst), _first_bars(scores, k))[:, None]
    else:
        beats = scores > _score(worst)[:, None]
    queries, items = _where(beats)
    if not len(queries):
        return best
    new = _ragged(queries, _keys(scores[queries, items], items + first), len(scores))
    return np.partition(np.concatenate([best, new], axis=1), -k, axis=1)[:, -k:]


def _first_bars(scores: Float[ndarray, "query item"], k: int) -> Float[ndarray, " query"]:
    """What the k-th best of a block is at least: the k-th best of its beginning."""
    if scores.shape[1] < k:
        return np.full(len(scores), -np.inf, dtype=np.float32)
    return np.partition(scores[:, : SAMPLE * k], -k, axis=1)[:, -k]


def _where(beats: ndarray) -> tuple[Int[ndarray, " candidate"], Int[ndarray, " candidate"]]:
    """Queries, ascending, and items of the true entries; a flat search is the fastest there is."""
    if beats.flags.c_contiguous:
        return np.divmod(np.flatnonzero(beats), beats.shape[1])
    items, queries = np.divmod(np.flatnonzero(beats.T), len(beats))
    order = np.argsort(queries.astype(np.uint16), kind="stable")  # 16 bits sort by counting
    return queries[order], items[order]


def _ragged(
    rows: Int[ndarray, " candidate"], keys: Int[ndarray, " candidate"], height: int
) -> Int[ndarray, "row place"]:
    """Candidates in row order, as a matrix as wide as the fullest row."""
    counts = np.bincount(rows, minlength=height)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    out = np.full((height, counts.max(initial=0)), NOTHING)
    out[rows, places] = keys
    return out


def _keys(
    scores: Float[ndarray, " candidate"], items: Int[ndarray, " candidate"]
) -> Int[ndarray, " candidate"]:
    """Score and item as one number that orders by score, then by lower item."""
    # A float's bits order as a whole number does once the negative ones are turned round; adding
    # zero makes -0.0 and 0.0 one score.
    bits = (scores + np.float32(0)).view(np.int32)
    return (_turned(bits).astype(np.int64) << 32) + (LAST - items)


def _score(keys: Int[ndarray, "*key"]) -> Float[ndarray, "*key"]:
    bits = _turned((keys >> 32).astype(np.int32)).view(np.float32)
    return np.where(keys == NOTHING, np.float32(-np.inf), bits)


def _turned(bits: Int[ndarray, "*key"]) -> Int[ndarray, "*key"]:
    return np.where(bits < 0, bits ^ MAGNITUDE, bits)
