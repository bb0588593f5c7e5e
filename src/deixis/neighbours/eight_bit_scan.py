"""Estimates of every score from rows in eight bits, block by block, with certified errors."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Thread

import numpy as np
from numpy import ndarray

from deixis.neighbours import exact
from deixis.neighbours.eight_bit_rows import (
    EightBitQueries,
    JoinedErrors,
    RowErrors,
    one_value_each,
    quantise_queries,
)
from deixis.neighbours.eight_bit_store import eight_bit_blocks
from deixis.neighbours.estimates import Estimates
from deixis.neighbours.exact import Exact
from deixis.neighbours.integer_layout import integer_layout
from deixis.neighbours.integer_product import (
    BoundProducts,
    IntegerProduct,
    Layout,
    return_freed_memory,
)
from deixis.neighbours.large_pages import use_large_pages
from deixis.shapes import Bool, Float32, Int8

FEWEST = 8192  # rows below which a pass in float32 takes no longer
TRIMMED = 8  # blocks after which memory is handed back
OFTEN = 16  # passes after which moving the rows into large pages will pay
FEW = 4  # codes of which the estimates of all rows fit into the processor's cache


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
        # By the number of codes: one is taken by each search that runs, and given back.
        self._free: dict[int, list[BoundProducts]] = {count + 1: [] for count in range(FEW)}
        self._passes = 0
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
        """Queries in one code each, or in two where one would blur too much."""
        once = quantise_queries(queries, twice=False)
        some = next((block.errors for block in self._blocks if block is not None), None)
        if some is None:
            return once
        blurred = once.error * some.longest > 2 * once.length * some.largest_error
        return quantise_queries(queries, twice=True) if blurred.any() else once

    def passes(
        self, queries: EightBitQueries, allowed: Bool[ndarray, " row"]
    ) -> Iterator[tuple[int, Estimates]]:
        """Estimates of the allowed rows, each with its first row; the next may overwrite them."""
        self._passes += 1
        if self._passes == OFTEN:
            Thread(target=use_large_pages, daemon=True).start()
        if self._few(queries) and self._joined is not None:
            free = self._free[len(queries.codes)]
            bound = free.pop() if free else self._bound(queries)
            yield 0, self._together(queries, self._joined, bound)
            free.append(bound)
            return
        room = self.room(queries)
        for first in range(0, len(allowed), exact.ROWS):
            if allowed[first : first + exact.ROWS].any():
                yield first, self.estimates(queries, first, room)

    def _together(
        self, queries: EightBitQueries, errors: JoinedErrors, bound: BoundProducts
    ) -> Estimates:
        """The scores of all rows: what follows a scan costs its calls more than its numbers."""
        bound(queries.codes)
        shape = len(queries.exact), len(self.plain.vectors)
        alone = len(queries.codes) == 1  # then its products lie as its values will
        values, first = bound.room.reshape(shape) if alone else np.empty(shape, np.float32), 0
        for products, shift in zip(bound.products, errors.shifts(queries).T, strict=True):
            found = one_value_each(queries, products)
            last = first + found.shape[1]
            np.add(found, shift[:, None], out=values[:, first:last])
            first = last
        return Estimates(values, errors.bounds(queries))

    def _bound(self, queries: EightBitQueries) -> BoundProducts:
        blocks = [block.product for block in self._blocks if block is not None]
        return BoundProducts(blocks, *queries.codes.shape)

    @cached_property
    def _joined(self) -> JoinedErrors | None:
        """The errors of all rows; None where some are kept only in float32."""
        errors = [block.errors for block in self._blocks if block is not None]
        return JoinedErrors.of(errors) if errors and all(self._blocks) else None

    def _few(self, queries: EightBitQueries) -> bool:
        """Whether there is room for all estimates at once."""
        count = len(queries.codes)
        fits = count <= FEW and count * len(self.plain.vectors) <= exact.SCORES
        return fits and not self._beyond(queries)

    def _beyond(self, queries: EightBitQueries) -> bool:
        return bool(queries.length.max(initial=0) > exact.LARGEST)

    def room(self, queries: EightBitQueries) -> Float32[ndarray, " number"]:
        """Memory for the estimates of one block, taken once and used for block after block."""
        return np.empty(len(queries.codes) * min(exact.ROWS, len(self.plain.vectors)), np.float32)

    def estimates(
        self, queries: EightBitQueries, first: int, room: Float32[ndarray, " number"]
    ) -> Estimates:
        """The scores of the block of rows that begins at ``first``, kept in a room of ``room``."""
        block = self._blocks[first // exact.ROWS] if self._blocks else None
        if block is None or self._beyond(queries):
            return self.plain.estimates(queries.exact, first)
        return block.errors.estimates(queries, block.product(queries.codes, room))
