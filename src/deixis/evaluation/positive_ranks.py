"""The ranks of the positives, computed without sorting everything else.

A place is a count of the items that stand before, so one comparison per positive does what sorting
a gallery would; the matrix is walked in strips of rows and is never copied as a whole.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.evaluation.qrels import Qrels
from deixis.similarity.blocked.row_strips import strips

Ties = Literal["against the system", "by index"]
MANY = 16  # from this many positives on, sorting a row is cheaper than counting it for each


@dataclass(frozen=True)
class Places:
    """The ranks of each query's positives, 1 being first, in order."""

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
    if ties == "against the system":
        return Places(qrels, items, _count(scores, qrels, qrels.owners, bars) - behind)
    return Places(qrels, items, _count(scores, qrels, qrels.owners, bars, items))


def ranks(
    scores: Float[ndarray, "row column"], qrels: Qrels, ties: Ties = "against the system"
) -> Int[ndarray, " query"]:
    """The rank of each query's best positive: ``places(…).best``, faster."""
    order, bars, behind = _standing(scores, qrels)
    first, each = qrels.starts, np.arange(len(qrels.queries))
    if ties == "against the system":
        return _count(scores, qrels, each, bars[first]) - behind[first]
    return _count(scores, qrels, each, bars[first], qrels.items[order[first]])


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
    owners: Int[ndarray, " bar"],
    bars: Float[ndarray, " bar"],
    items: Int[ndarray, " bar"] | None = None,
) -> Int[ndarray, " bar"]:
    """How many items reach each query's bars; with ``items``, without ties of later index."""
    counts = np.empty(len(bars), dtype=np.int64)
    for some, strip in strips(scores, qrels.queries):
        _refuse_nan(strip, qrels.queries[some])
        here = slice(*np.searchsorted(owners, (some.start, some.stop)))
        rows = owners[here] - some.start
        counts[here] = _reaching(strip, rows, bars[here])
        if items is not None:
            counts[here] -= _tied_later(strip, rows, bars[here], items[here])
    return counts


def _reaching(
    strip: Float[ndarray, "some column"], rows: Int[ndarray, " bar"], bars: Float[ndarray, " bar"]
) -> Int[ndarray, " bar"]:
    if len(bars) == len(strip):  # one per row
        return (strip >= bars[:, None]).view(np.int8).sum(axis=1, dtype=np.int64)
    counts = np.empty(len(bars), dtype=np.int64)
    edges = np.searchsorted(rows, np.arange(len(strip) + 1)).tolist()
    for row, start, end in zip(strip, edges, edges[1:], strict=False):
        if end - start < MANY:
            counts[start:end] = [np.count_nonzero(row >= bar) for bar in bars[start:end]]
        else:
            counts[start:end] = len(row) - np.searchsorted(np.sort(row), bars[start:end])
    return counts


def _tied_later(
    strip: Float[ndarray, "some column"],
    rows: Int[ndarray, " bar"],
    bars: Float[ndarray, " bar"],
    items: Int[ndarray, " bar"],
) -> list[int]:
    each = zip(rows.tolist(), bars, items.tolist(), strict=True)
    return [int(np.count_nonzero(strip[row, item + 1 :] == bar)) for row, bar, item in each]


def _refuse_nan(strip: Float[ndarray, "some column"], rows: Int[ndarray, " some"]) -> None:
    if np.isnan(strip.min()):
        query, item = np.argwhere(np.isnan(strip))[0]
        found = f"score of query {rows[query]} with item {item} is NaN"
        raise EvaluationError(f"{found}; nothing was ranked")
