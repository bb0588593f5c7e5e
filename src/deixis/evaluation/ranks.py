"""Where positives stand, without ranking anything else.

A place is a count of the items that stand before, so one comparison a positive does what sorting a
gallery would; the matrix is walked in strips of rows and is never copied as a whole.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.evaluation.qrels import Qrels
from deixis.similarity.strips import strips

Ties = Literal["against the system", "by index"]
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
    new[1:-1] = (bars[1:] != bars[:-1]) | (np.diff(qrels.owners) != 0)
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
    for some, strip in strips(scores, qrels.queries):
        _refuse_nan(strip, qrels.queries[some])
        for at, row in enumerate(strip, start=some.start):
            here = slice(int(starts[at]), ends[at])
            counts[here] = count(row, bars[here], items[here])
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


def _refuse_nan(strip: Float[ndarray, "some column"], rows: Int[ndarray, " some"]) -> None:
    if np.isnan(strip.min()):
        query, item = np.argwhere(np.isnan(strip))[0]
        found = f"score of query {rows[query]} with item {item} is NaN"
        raise EvaluationError(f"{found}; nothing was ranked")
