"""Exact top-k below the cost of one pass: a scan in eight bits with certified errors.

The scan gives each score to within a known error; only the rows that may be among the best are
read in float32. When the errors leave too many, the plain pass answers. Rows, order and scores
equal those of ``Exact``, always.
"""

from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.neighbours import exact
from deixis.neighbours.eight_bit_scan import EightBitScan
from deixis.neighbours.exact import groups, joined
from deixis.neighbours.integer_product import Layout
from deixis.neighbours.neighbours import Neighbours
from deixis.neighbours.shortlist import Best, Shortlist
from deixis.shapes import Bool, Float32

AGAIN = 10  # where more than one row in ten may be among the best, a plain pass takes no longer


class Certified:
    """Exact search by a scan in eight bits; few rows are searched by the plain pass."""

    def __init__(
        self,
        vectors: Float32[ndarray, "row dim"],
        folder: Path | None = None,
        layout: Layout | None = None,
    ) -> None:
        self._scan = EightBitScan(vectors, folder, layout)
        # Queries answered by the scan, and by a pass over every row in float32.
        self.certified, self.plain = 0, 0

    def search(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> Neighbours:
        """The k best allowed rows of each query, or all allowed ones when they are fewer."""
        count = int(np.count_nonzero(allowed))
        k = min(k, count)
        if k == 0 or count * exact.SPARSE < len(allowed):  # the allowed rows alone are read
            return self._scan.plain.search(queries, k, allowed)
        if not self._scan.ready:
            self.plain += len(queries)
            return self._scan.plain.search(queries, k, allowed)
        return joined([self._best(some, k, allowed) for some in groups(queries, allowed)], k)

    def _best(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> list[Best]:
        plain = self._scan.plain
        shortlist, coded = Shortlist(plain.vectors, queries, k), self._scan.coded(queries)
        for first, block in self._scan.passes(coded, allowed):
            shortlist.see(block, first, allowed[first : first + block.values.shape[1]])
        found = shortlist.candidates()
        many = [len(rows) > max(len(allowed) // AGAIN, 4 * k) for rows, _ in found]
        self.plain, self.certified = self.plain + sum(many), self.certified + many.count(False)
        again = plain.search(queries[many], k, allowed)
        passed = iter(zip(again.rows, again.scores, strict=True))
        return [
            next(passed) if many[query] else shortlist.best(query, some)
            for query, some in enumerate(found)
        ]
