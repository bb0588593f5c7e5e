"""The best rows of very many queries: estimated in eight bits, scored exactly where it counts.

A score is a float32 dot product summed pair by pair, so it does not depend on what else is scored;
rows and order equal those of scoring every pair in this way.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64
from numpy import ndarray
from torch import Tensor

from deixis.neighbours import exact
from deixis.neighbours.eight_bit_rows import quantise_queries
from deixis.neighbours.eight_bit_scan import EightBitScan
from deixis.neighbours.estimates import Estimates
from deixis.neighbours.integer_product import Layout
from deixis.neighbours.shortlist import Contenders, found_above
from deixis.similarity.blocked.topk_buffer import Nearest, nearest_listed

DOUBT = 1 / 8  # of the largest error that estimates may have: nearly always they err by less
MOST = 10  # where more than one pair in ten is left to score, a product in float32 is faster

# Which query and which row, query by query.
Found = tuple[Int64[ndarray, " found"], Int64[ndarray, " found"]]


class NearestRows:
    """Finds the k best rows of queries by inner product; any row may be hidden from any query."""

    def __init__(
        self, rows: Float32[Tensor, "row dim"], k: int, layout: Layout | None = None
    ) -> None:
        self._rows, self._k = rows, min(k, len(rows))
        self._scan = EightBitScan(rows.numpy(), layout=layout)
        longest = float(torch.linalg.vector_norm(rows, dim=1).max()) * 1.001
        # However a dot product is summed in float32, it errs by one unit per term at most.
        self._summing = exact.UNIT * (rows.shape[1] + 4) * longest
        self.plain = 0  # queries that needed products of all rows in float32

    def of(
        self, queries: Float32[Tensor, "query dim"], hidden: Int64[ndarray, "pair 2"]
    ) -> Nearest:
        """The best rows of some queries; each must have k rows that are not hidden from it."""
        scan = self._scan if self._scan.ready else None
        found, guess = self._contenders(queries, hidden, scan)
        if len(found[0]) * MOST > len(queries) * len(self._rows) and scan is not None:
            scan = None
            found, guess = self._contenders(queries, hidden, scan)
        if scan is None:
            self.plain += len(queries)
        while True:
            scores = dot_products_of(queries, self._rows, found)
            best = nearest_listed(*found, scores, len(queries), self._k)
            worst = best.scores[:, -1].astype(np.float64)
            if (worst >= guess).all():  # then no row outside what was scored can be among them
                return best
            guess = np.minimum(guess, worst)
            blocks = self._estimates(queries, hidden, scan)
            seen = [(i, b.bounds, b.reaching(b.bounds.bar(guess))) for i, b in blocks]
            found = found_above(guess, seen)[:2]

    def _contenders(
        self,
        queries: Float32[Tensor, "query dim"],
        hidden: Int64[ndarray, "pair 2"],
        scan: EightBitScan | None,
    ) -> tuple[Found, Float64[ndarray, " query"]]:
        """Pairs that are probably all there are to score, and the guess that says so."""
        some = Contenders(len(queries), self._k, len(self._rows), DOUBT)
        for first, block in self._estimates(queries, hidden, scan):
            some.see(block, first)
        query, row, _ = some.found()
        return (query, row), some.floor

    def _estimates(
        self,
        queries: Float32[Tensor, "query dim"],
        hidden: Int64[ndarray, "pair 2"],
        scan: EightBitScan | None,
    ) -> Iterator[tuple[int, Estimates]]:
        """Estimates of all scores, block by block of rows; in float32 without a scan.

        A block may be overwritten by the next.
        """
        asked = queries.numpy()
        coded = quantise_queries(asked, twice=False)
        room = self._scan.room(coded)
        for first in range(0, len(self._rows), exact.ROWS):
            block = (
                self._scan.plain.estimates(asked, first)
                if scan is None
                else scan.estimates(coded, first, room)
            )
            row = hidden[:, 1] - first
            inside = (row >= 0) & (row < block.values.shape[1])
            block.values[hidden[inside, 0], row[inside]] = -np.inf
            bounds = block.bounds
            slack = bounds.slack + coded.length * self._summing
            yield first, Estimates(block.values, replace(bounds, slack=slack))


def dot_products_of(
    queries: Float32[Tensor, "query dim"], rows: Float32[Tensor, "row dim"], pairs: Found
) -> Float32[ndarray, " found"]:
    """Dot products of chosen pairs, each summed on its own."""
    query, row = pairs
    order = np.argsort(row)  # a row is read once; the queries, being few, stay in cache
    ends = np.searchsorted(row[order], np.arange(len(rows) + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its sparse tensors new
        chosen = torch.sparse_csr_tensor(
            torch.from_numpy(ends),
            torch.from_numpy(query[order]),
            torch.zeros(len(row)),
            (len(rows), len(queries)),
            check_invariants=False,
        )
        scores = torch.sparse.sampled_addmm(chosen, rows, queries.T, beta=0.0).values()
    out = np.empty(len(row), dtype=np.float32)
    out[order] = scores.numpy()
    return out
