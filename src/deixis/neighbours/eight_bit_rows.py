"""Rows of float32 in eight bits, with what is needed to bound the error of every score.

*Formula*: a row is ``x = c + s·r + e`` with the block's mean c, a scale s, whole numbers r and the
rounding error e. A query is ``q = t·p + f`` likewise. Then
``|q·x − (q·c + s·t·p·r)| ≤ ‖q‖·‖e‖ + ‖f‖·‖s·r‖``, and ``‖e‖`` is stored, not assumed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import ndarray

from deixis.neighbours.estimates import Bounds, Estimates
from deixis.shapes import Float32, Float64, Int8

ROUNDING = 1e-6  # relative; room for the few float32 operations around a product
TINY = 1e-35  # absolute, where numbers are so small that they may become zero
# Where the largest number of a block lies between these, no square overflows, and what squares
# lose by becoming zero is less than the room for rounding.
SMALLEST, LARGEST = np.float32(1e-8), np.float32(1e15)
STEPS = 127  # whole numbers to each side of zero
STRIP = 256  # rows rounded at once


@dataclass(frozen=True, slots=True)
class EightBitQueries:
    """Queries in eight bits, and in twice eight where one rounding would lose too much."""

    exact: Float32[ndarray, "query dim"]
    codes: Int8[ndarray, "code dim"]  # the first, then the second of every query
    scale: Float64[ndarray, " query"]  # of the last code
    length: Float64[ndarray, " query"]
    error: Float64[ndarray, " query"]  # length of what the codes leave out

    @property
    def twice(self) -> bool:
        """Whether there are two codes per query."""
        return len(self.codes) > len(self.exact)


def quantise_queries(queries: Float32[ndarray, "query dim"], twice: bool) -> EightBitQueries:
    """Round queries to whole numbers, the remainder again if ``twice``."""
    wide = queries.astype(np.float64)
    largest = np.abs(wide).max(axis=1, initial=0)
    scale = np.where(largest > TINY, largest / STEPS, 1.0)  # so that no code is beyond a byte
    codes = np.rint(wide / scale[:, None])
    left = wide - codes * scale[:, None]
    if twice:
        scale = scale / (2 * STEPS)  # a remainder is at most half a step
        second = np.rint(left / scale[:, None])
        left -= second * scale[:, None]
        codes = np.concatenate([codes, second])
    return EightBitQueries(queries, codes.astype(np.int8), scale, _lengths(wide), _lengths(left))


def _lengths(values: Float64[ndarray, "row dim"]) -> Float64[ndarray, " row"]:
    return np.asarray(np.sqrt(np.vecdot(values, values)))


def one_value_each(
    queries: EightBitQueries, products: Float32[ndarray, "code row"]
) -> Float32[ndarray, "query row"]:
    """One value per query and row from the products of its one or two codes; in their place."""
    if not queries.twice:
        return products
    count = len(queries.exact)
    values = products[:count]
    values *= np.float32(2 * STEPS)
    values += products[count:]
    return values


@dataclass(frozen=True)
class RowErrors:
    """What turns products with the codes of a block of rows into bounded scores."""

    centre: Float32[ndarray, " dim"]
    scale: Float32[ndarray, " row"]
    error: Float32[ndarray, " row"]  # length of what the codes leave out
    longest: float  # of the coded rows

    def estimates(
        self, queries: EightBitQueries, products: Float32[ndarray, "code row"]
    ) -> Estimates:
        """Scores of every row with the largest error each can have.

        From the products of codes, times the scale of their rows; in their place.
        """
        values = one_value_each(queries, products)
        slack = queries.error * self.longest + queries.length * self.whole * ROUNDING + TINY
        shift = queries.exact @ self.centre.astype(np.float64)
        length, error = queries.length, self.largest_error
        return Estimates(values, Bounds(queries.scale, shift, length, self.error, error, slack))

    @cached_property
    def largest_error(self) -> float:
        """The largest of all errors."""
        return float(self.error.max())

    @cached_property
    def whole(self) -> float:
        """No row is longer."""
        return self.longest + self.largest_error + float(np.linalg.norm(self.centre))


@dataclass(frozen=True)
class JoinedErrors:
    """The same for several blocks together: the means' share is added to the values themselves."""

    centres: Float64[ndarray, "dim block"]
    error: Float32[ndarray, " row"]
    largest_error: float
    longest: float
    whole: float

    @classmethod
    def of(cls, blocks: Sequence[RowErrors]) -> "JoinedErrors":
        """Of blocks that lie one after the other."""
        centres = np.stack([one.centre for one in blocks], axis=1).astype(np.float64)
        error = np.concatenate([one.error for one in blocks])
        longest, whole = (
            max(one) for one in zip(*((b.longest, b.whole) for b in blocks), strict=True)
        )
        return cls(centres, error, float(error.max()), longest, whole)

    def shifts(self, queries: EightBitQueries) -> Float32[ndarray, "query block"]:
        """What is added to the values of each block."""
        found = queries.exact @ self.centres
        found /= queries.scale[:, None]
        return found.astype(np.float32)

    def bounds(self, queries: EightBitQueries) -> Bounds:
        """What values stand for once it was added."""
        slack = queries.error * self.longest + queries.length * self.whole * ROUNDING + TINY
        none = np.zeros(len(slack))
        return Bounds(queries.scale, none, queries.length, self.error, self.largest_error, slack)


def quantise_rows(
    rows: Float32[ndarray, "row dim"],
) -> tuple[Int8[ndarray, "dim row"], RowErrors] | None:
    """Round rows to whole numbers; None where they are too large or small to bound the error.

    The codes of a row are a column, as the integer product wants them.
    """
    if not SMALLEST < max(rows.max(initial=0), -rows.min(initial=0)) < LARGEST:
        return None
    centre = rows.mean(axis=0)
    codes = np.empty((rows.shape[1], len(rows)), np.int8)
    scale, error, length = (np.empty(len(rows), np.float32) for _ in range(3))
    for start in range(0, len(rows), STRIP):  # a strip stays in the processor's cache
        some = slice(start, start + STRIP)
        codes[:, some], scale[some], error[some], length[some] = _quantised(rows[some] - centre)
    room = 1 + 2.0**-24 * (rows.shape[1] + 4)  # however the squares are summed in float32
    return codes, RowErrors(centre, scale, error * np.float32(room), float(length.max()) * room)


def _quantised(left: Float32[ndarray, "row dim"]) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Codes as columns, scales, lengths of what the codes leave out and of what they say."""
    largest = np.maximum(left.max(axis=1), -left.min(axis=1))
    scale = np.maximum(largest, SMALLEST) / np.float32(STEPS)
    codes = np.rint(left * (1 / scale)[:, None])
    coded = codes * scale[:, None]
    left -= coded
    lengths = (np.sqrt(np.einsum("ij,ij->i", some, some)) for some in (left, coded))
    return codes.astype(np.int8).T, scale, *lengths
