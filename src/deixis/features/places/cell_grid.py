"""The grid of cells a picture is cut into for pointing, and feature maps brought onto it."""

from functools import cache

import numpy as np
from numpy import ndarray

from deixis.shapes import Float

SIDE = 9
CELLS = SIDE * SIDE


def on_grid(maps: Float[ndarray, "image cell feature"]) -> Float[ndarray, "image 81 feature"]:
    """Bring square feature maps onto the grid.

    A finer map is averaged over each cell's area; a coarser one is interpolated between its
    centres.
    """
    side = round(maps.shape[1] ** 0.5)
    if side == SIDE:
        return maps
    weights = _averaging(side, SIDE) if side > SIDE else _interpolation(side)
    return _resampled(maps, weights)


def coarser(
    cells: Float[ndarray, "image 81 feature"], side: int
) -> Float[ndarray, "image few feature"]:
    """The grid as ``side`` × ``side`` larger cells, each the mean over its area."""
    return _resampled(cells, _averaging(SIDE, side))


def _resampled(
    maps: Float[ndarray, "image cell feature"], weights: Float[ndarray, "to source"]
) -> Float[ndarray, "image new feature"]:
    side = weights.shape[1]
    square = maps.reshape(len(maps), side, side, maps.shape[2])
    rows = np.einsum("ay,iyxf->iaxf", weights, square, optimize=True)
    cells = np.einsum("bx,iaxf->iabf", weights, rows, optimize=True)
    return cells.reshape(len(maps), weights.shape[0] ** 2, maps.shape[2])


def mean_of_mirrored(
    maps: Float[ndarray, "image cell feature"], turned: Float[ndarray, "image cell feature"]
) -> Float[ndarray, "image cell feature"]:
    """The mean of square maps and those of mirror images turned back: left and right exchanged."""
    side = round(maps.shape[1] ** 0.5)
    shape = len(maps), side, side, maps.shape[2]
    mean = maps.reshape(shape) + turned.reshape(shape)[:, :, ::-1]
    mean /= 2
    return mean.reshape(maps.shape)


@cache
def _averaging(side: int, to: int) -> Float[ndarray, "cell source"]:
    low, high = np.arange(to)[:, None] / to, np.arange(1, to + 1)[:, None] / to
    left, right = np.arange(side) / side, np.arange(1, side + 1) / side
    shared = np.minimum(high, right) - np.maximum(low, left)
    return (shared.clip(0.0) * to).astype(np.float32)


@cache
def _interpolation(side: int) -> Float[ndarray, "cell source"]:
    centres = ((np.arange(SIDE) + 0.5) * side / SIDE - 0.5).clip(0.0, side - 1.0)
    distance = np.abs(centres[:, None] - np.arange(side))
    return (1.0 - distance).clip(0.0).astype(np.float32)
