"""The best rows of very many queries: estimated in eight bits, scored exactly where it counts.

A score is a float32 dot product summed pair by pair, so it does not depend on what else is scored;
rows and order equal those of scoring every pair in this way.
"""

import warnings
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64
from numpy import ndarray
from torch import Tensor

from deixis.neighbours import exact
from deixis.neighbours.eight_bit_rows import quantise_queries
from deixis.neighbours.eight_bit_scan import EightBitScan
from deixis.neighbours.integer_product import Layout
from deixis.neighbours.shortlist import Estimates, kth
from deixis.similarity.blocked.topk_buffer import Nearest, nearest_listed

GROUP = 32  # rows of which only the best counts for the guess
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
        blocks = self._estimates(queries, hidden, self._scan)
        guess = self._guess(blocks)
        found = _reaching(blocks, guess)
        if len(found[0]) * MOST > len(queries) * len(self._rows) and self._scan.ready:
            blocks = self._estimates(queries, hidden, None)
            guess = self._guess(blocks)
            found = _reaching(blocks, guess)
        while True:
            scores = dot_products_of(queries, self._rows, found)
            best = nearest_listed(*found, scores, len(queries), self._k)
            worst = best.scores[:, -1].astype(np.float64)
            if (worst >= guess).all():  # then no row outside what was scored can be among them
                return best
            guess = np.minimum(guess, worst)
            found = _reaching(blocks, guess)

    def _estimates(
        self,
        queries: Float32[Tensor, "query dim"],
        hidden: Int64[ndarray, "pair 2"],
        scan: EightBitScan | None,
    ) -> list[tuple[int, Estimates]]:
        """Estimates of all scores, block by block of rows; in float32 without a scan."""
        out, asked = [], queries.numpy()
        if scan is None or not scan.ready:
            self.plain += len(asked)
        coded = quantise_queries(asked, twice=False)
        for first in range(0, len(self._rows), exact.ROWS):
            block = (
                self._scan.plain.estimates(asked, first)
                if scan is None
                else scan.estimates(coded, first)
            )
            row = hidden[:, 1] - first
            inside = (row >= 0) & (row < block.values.shape[1])
            block.values[hidden[inside, 0], row[inside]] = -np.inf
            out.append((first, replace(block, slack=block.slack + coded.length * self._summing)))
        return out

    def _guess(self, blocks: list[tuple[int, Estimates]]) -> Float64[ndarray, " query"]:
        """What the k-th best will probably score at least."""
        group = max(1, min(GROUP, len(self._rows) // (8 * self._k)))
        peaks = np.concatenate([block.peaks(group) for _, block in blocks], axis=1)
        margin = np.max([block.margin for _, block in blocks], axis=0)
        return np.asarray(kth(peaks, self._k) - DOUBT * margin)


def _reaching(blocks: list[tuple[int, Estimates]], floor: Float64[ndarray, " query"]) -> Found:
    """Every pair whose score may reach the floor of its query."""
    found = [(first, *block.reaching(floor)) for first, block in blocks]
    query = np.concatenate([query for _, query, _, _ in found])
    row = np.concatenate([first + row for first, _, row, _ in found])
    order = np.argsort(query.astype(np.uint16), kind="stable")  # 16 bits sort by counting
    return query[order], row[order]


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
