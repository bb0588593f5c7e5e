"""Estimates of every score from rows in eight bits, block by block, with certified errors."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.neighbours import exact
from deixis.neighbours.eight_bit_rows import EightBitQueries, RowErrors, quantise_queries
from deixis.neighbours.eight_bit_store import eight_bit_blocks
from deixis.neighbours.estimates import Estimates
from deixis.neighbours.exact import Exact
from deixis.neighbours.integer_layout import integer_layout
from deixis.neighbours.integer_product import IntegerProduct, Layout, return_freed_memory
from deixis.shapes import Float32, Int8

FEWEST = 8192  # rows below which a pass in float32 takes no longer
TRIMMED = 8  # blocks after which memory is handed back
FEW = 4  # queries for which a second code costs next to nothing


@dataclass(frozen=True, slots=True)
class _Block:
    product: IntegerProduct
    errors: RowErrors

    @classmethod
    def of(cls, codes: Int8[ndarray, "dim row"], errors: RowErrors, layout: Layout) -> "_Block":
        return cls(IntegerProduct(codes, errors.scale, layout), errors)


class EightBitScan:
    """Rows in eight bits beside the rows themselves; few rows are kept only in float32.

    So do all rows where no integer kernel works, and blocks of very large or small numbers.
    """

    def __init__(
        self,
        vectors: Float32[ndarray, "row dim"],
        folder: Path | None = None,
        layout: Layout | None = None,
    ) -> None:
        self.plain = Exact(vectors)
        self._blocks: list[_Block | None] = []
        if len(vectors) < FEWEST:
            return
        layout = layout or integer_layout()
        if layout is not None:
            for block in eight_bit_blocks(vectors, exact.ROWS, folder):
                self._blocks.append(block and _Block.of(*block, layout))
                if len(self._blocks) % TRIMMED == 0:
                    return_freed_memory()
            return_freed_memory()

    @property
    def ready(self) -> bool:
        """Whether any rows are kept in eight bits."""
        return any(self._blocks)

    def coded(self, queries: Float32[ndarray, "query dim"]) -> EightBitQueries:
        """Queries in one code each, or in two where that is cheap or one would blur too much."""
        once = quantise_queries(queries, twice=False)
        some = next((block.errors for block in self._blocks if block is not None), None)
        if some is None:
            return once
        blurred = once.error * some.longest > 2 * once.length * some.error.max()
        twice = len(queries) <= FEW or bool(blurred.any())
        return quantise_queries(queries, twice=True) if twice else once

    def room(self, queries: EightBitQueries) -> Float32[ndarray, " number"]:
        """Memory for the estimates of one block, taken once and used for block after block."""
        return np.empty(len(queries.codes) * min(exact.ROWS, len(self.plain.vectors)), np.float32)

    def estimates(
        self, queries: EightBitQueries, first: int, room: Float32[ndarray, " number"]
    ) -> Estimates:
        """The scores of the block of rows that begins at ``first``, kept in a room of ``room``."""
        block = self._blocks[first // exact.ROWS] if self._blocks else None
        if block is None or queries.length.max(initial=0) > exact.LARGEST:
            return self.plain.estimates(queries.exact, first)
        return block.errors.estimates(queries, block.product(queries.codes, room))
