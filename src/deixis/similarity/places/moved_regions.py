"""A region as it would lie had it been remembered a cell further on: errors to average over."""

import math
from functools import cache

import numpy as np
from numpy import ndarray

from deixis.shapes import Float, Float32

STEPS = (-1, 0, 1)  # cells, across and down
MOVES = len(STEPS) ** 2
LEAST = 1e-6  # share of a region that must stay within the picture


def moved_regions(
    regions: Float[ndarray, "*phrase cell"],
) -> Float32[ndarray, "*phrase move cell"]:
    """Each region, over a square grid of cells, moved by a cell in every direction, and not at all.

    What leaves the picture is cut off and the shares add up to one again. A region that would leave
    it whole stays.
    """
    cells = regions.shape[-1]
    moves = _moves(math.isqrt(cells))
    moved = (regions @ moves).reshape(*regions.shape[:-1], MOVES, cells)
    left = moved.sum(axis=-1, keepdims=True)
    kept = np.where(left > LEAST, moved / left.clip(LEAST), regions[..., None, :])
    return kept.astype(np.float32)


def log_chances(spread: float) -> Float32[ndarray, " move"]:
    """How likely each move is, as logarithms: a normal error of ``spread`` cells."""
    steps = np.square(STEPS)
    chances = np.exp(-(steps[:, None] + steps).ravel() / (2.0 * spread**2))
    return np.log(chances / chances.sum()).astype(np.float32)


@cache
def _moves(side: int) -> Float32[ndarray, "cell moves_and_cells"]:
    line = [np.eye(side, k=step) for step in STEPS]
    each = np.stack([np.kron(down, across) for down in line for across in line], axis=1)
    return each.reshape(side**2, MOVES * side**2).astype(np.float32)
