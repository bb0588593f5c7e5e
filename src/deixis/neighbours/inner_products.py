"""Inner products that do not depend on what else is computed, and lengths."""

import numpy as np
from numpy import ndarray

from deixis.shapes import Float32, Float64, Int64

BLOCK = 128  # rows widened to float64 at once: they stay in the processor's cache


class InnerProducts:
    """Inner products with chosen rows, summed in float64, row by row, and rounded once.

    A matrix product may sum in another order when it is given other rows beside these; then two
    engines could order near-equal rows differently.
    """

    def __init__(self, vectors: Float32[ndarray, "row dim"]) -> None:
        self._vectors = vectors
        shape = min(BLOCK, len(vectors)), vectors.shape[1]
        # Memory that is used again and again: taking it anew costs more than the products.
        self._chosen, self._wide = np.empty(shape, np.float32), np.empty(shape, np.float64)

    def __call__(
        self, rows: Int64[ndarray, " chosen"], query: Float32[ndarray, " dim"]
    ) -> Float32[ndarray, " chosen"]:
        """The scores of some rows."""
        asked, out = query.astype(np.float64), np.empty(len(rows), dtype=np.float32)
        with np.errstate(over="ignore"):  # beyond float32 a score is infinite
            for start in range(0, len(rows), BLOCK):
                some = rows[start : start + BLOCK]
                chosen, wide = self._chosen[: len(some)], self._wide[: len(some)]
                self._vectors.take(some, axis=0, out=chosen, mode="clip")
                np.copyto(wide, chosen)
                out[start : start + BLOCK] = np.vecdot(wide, asked)
        return out


def norms(vectors: Float32[ndarray, "row dim"]) -> Float64[ndarray, " row"]:
    """The length of each row, in float64."""
    wide = vectors.astype(np.float64)
    return np.sqrt(np.vecdot(wide, wide))
