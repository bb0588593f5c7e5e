"""Where positives stand, without ranking anything else.

A place is a count of the items that stand before, so one comparison a positive does what sorting a
gallery would; the matrix is walked in strips of rows and is never copied as a whole.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.evaluation.qrels import Qrels

Ties = Literal["against the system", "by index"]
STRIP = 256  # queries judged at once; bounds the extra memory
TILE = 256  # a transposed strip is copied in square tiles: four times faster than row by row
MANY = 16  # from so many positives on, sorting a row is cheaper than counting it for each


@dataclass(frozen=True)
class Places:
    """Where each query's positives stand, 1 being first, best first within a query."""

    qrels: Qrels
    items: Int[ndarray, " pair"]
    places: Int[ndarray, " pair"]

    @property
    def best(self) -> Int[ndarray, " query"]:
        """The rank of each query: the place of its best positive."""
        return self.places[self.qrels.starts]


def places(
    scores: Float[ndarray, "row column"], qrels: Qrels, ties: Ties = "against the system"
) -> Places:
    """Place every positive of every query.

    Items that tie with a positive and are none themselves stand before it: a constant scorer must
    not look good. "by index" lets the earlier column stand first, as published scripts do. NaN is
    refused, because comparisons with it would count for the system.
    """
    order, bars, behind = _standing(scores, qrels)
    items = qrels.items[order]
    before = _count(scores, qrels, qrels.starts, bars, items, ties)
    return Places(qrels, items, before - behind if ties == "against the system" else before)


def ranks(
    scores: Float[ndarray, "row column"], qrels: Qrels, ties: Ties = "against the system"
) -> Int[ndarray, " query"]:
    """The place of each query's best positive alone: ``places(…).best``, faster."""
    order, bars, behind = _standing(scores, qrels)
    first = qrels.starts
    each = np.arange(len(first))
    before = _count(scores, qrels, each, bars[first], qrels.items[order[first]], ties)
    return before - behind[first] if ties == "against the system" else before


def _standing(
    scores: Float[ndarray, "row column"], qrels: Qrels
) -> tuple[Int[ndarray, " pair"], Float[ndarray, " pair"], Int[ndarray, " pair"]]:
    """Pairs ordered best first in each query, their scores, and how many tied ones come after."""
    bars = scores[qrels.queries[qrels.owners], qrels.items]
    order = np.lexsort((qrels.items, -bars, qrels.owners))
    bars = bars[order]
    new = np.ones(len(bars) + 1, dtype=bool)  # a run of ties begins here
    new[1:-1] = (np.diff(bars) != 0) | (np.diff(qrels.owners) != 0)
    ends = np.flatnonzero(new[1:])
    return order, bars, ends[np.cumsum(new[:-1]) - 1] - np.arange(len(bars))


def _count(
    scores: Float[ndarray, "row column"],
    qrels: Qrels,
    starts: Int[ndarray, " query"],
    bars: Float[ndarray, " bar"],
    items: Int[ndarray, " bar"],
    ties: Ties,
) -> Int[ndarray, " bar"]:
    """How many items stand at or before each bar, itself included."""
    count: Callable[..., ndarray | list[int]] = (
        _at_or_above if ties == "against the system" else _in_order
    )
    ends = [*starts[1:].tolist(), len(bars)]
    counts = np.empty(len(bars), dtype=np.int64)
    at = 0
    for strip in _strips(scores, qrels.queries):
        for row in strip:
            here = slice(int(starts[at]), ends[at])
            counts[here] = count(row, bars[here], items[here])
            at += 1
    return counts


def _at_or_above(row: ndarray, bars: ndarray, items: ndarray) -> ndarray | list[int]:
    if len(bars) < MANY:
        return [int(np.count_nonzero(row >= bar)) for bar in bars]
    return len(row) - np.searchsorted(np.sort(row), bars, side="left")


def _in_order(row: ndarray, bars: ndarray, items: ndarray) -> list[int]:
    return [
        int(np.count_nonzero(row[: item + 1] >= bar) + np.count_nonzero(row[item + 1 :] > bar))
        for bar, item in zip(bars, items.tolist(), strict=True)
    ]


def _strips(
    scores: Float[ndarray, "row column"], queries: Int[ndarray, " query"]
) -> Iterator[Float[ndarray, "some column"]]:
    """The rows of the queries, some at a time, each row in one piece of memory."""
    for start in range(0, len(queries), STRIP):
        rows = queries[start : start + STRIP]
        dense = rows[-1] - rows[0] + 1 == len(rows)
        strip = _strip(scores, slice(rows[0], rows[-1] + 1) if dense else rows)
        if np.isnan(strip.min()):
            query, item = np.argwhere(np.isnan(strip))[0]
            found = f"score of query {rows[query]} with item {item} is NaN"
            raise EvaluationError(f"{found}; nothing was ranked")
        yield strip


def _strip(scores: ndarray, rows: slice | ndarray) -> ndarray:
    if scores.strides[1] == scores.itemsize:
        return scores[rows]
    out = np.empty((len(scores[rows, 0]), scores.shape[1]), dtype=scores.dtype)
    for left in range(0, scores.shape[1], TILE):
        out[:, left : left + TILE] = scores[rows, left : left + TILE]
    return out
