"""A matrix, or its transpose, walked some rows at a time without a second copy of it."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int, Shaped
from numpy import ndarray

HEIGHT = 256  # rows at once; bounds the extra memory
TILE = 256  # a transposed strip is copied in square tiles, several times faster than row by row


def strips(
    matrix: Shaped[ndarray, "row column"], rows: Int[ndarray, " chosen"]
) -> Iterator[tuple[slice, Shaped[ndarray, "some column"]]]:
    """Chosen rows, ascending, each in one piece of memory; with the slice of ``rows`` they are."""
    for start in range(0, len(rows), HEIGHT):
        here = slice(start, min(start + HEIGHT, len(rows)))
        wanted = rows[here]
        dense = wanted[-1] - wanted[0] + 1 == len(wanted)
        yield here, _strip(matrix, slice(wanted[0], wanted[-1] + 1) if dense else wanted)


def _strip(matrix: ndarray, rows: slice | ndarray) -> ndarray:
    if matrix.strides[1] == matrix.itemsize:
        return matrix[rows]
    out = np.empty((len(matrix[rows, 0]), matrix.shape[1]), dtype=matrix.dtype)
    for left in range(0, matrix.shape[1], TILE):
        out[:, left : left + TILE] = matrix[rows, left : left + TILE]
    return out
