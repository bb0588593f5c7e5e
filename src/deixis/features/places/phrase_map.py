"""Where a phrase is found in a picture, as it is shown: a smooth map, and the point of its peak."""

from functools import cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.features.places.cell_grid import SIDE

NEIGHBOUR = 0.25  # weight of a cell beside another's 1
FINER = 5  # points per cell and direction among which the peak is looked for
BEND = -0.75  # of the cubic through four cells


def shown_maps(scores: Float[ndarray, "*phrase 81"]) -> Float[ndarray, "*phrase 81"]:
    """How likely a phrase is in each cell, smoothed over neighbours; the sum is one.

    People's boxes are wider than a cell and lie between cells: a map of single cells peaks beside
    them more often.
    """
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    smooth = _resampled(shares / shares.sum(axis=-1, keepdims=True), _smoothing())
    return smooth / smooth.sum(axis=-1, keepdims=True)


def peaks(maps: Float[ndarray, "*phrase 81"]) -> Float[ndarray, "*phrase 2"]:
    """The point, x and y, where each map is highest, which may lie between cells."""
    count = SIDE * FINER
    y, x = np.divmod(_resampled(maps, _cubic()).argmax(axis=-1), count)
    return (np.stack([x, y], axis=-1) + 0.5) / count


def _resampled(
    maps: Float[ndarray, "*phrase 81"], weights: Float[ndarray, "line 9"]
) -> Float[ndarray, "*phrase point"]:
    square = maps.reshape(*maps.shape[:-1], SIDE, SIDE)
    points = weights @ square @ weights.T
    return points.reshape(*maps.shape[:-1], len(weights) ** 2)


@cache
def _smoothing() -> Float[ndarray, "9 9"]:
    beside = np.eye(SIDE, k=1) + np.eye(SIDE, k=-1)
    return np.eye(SIDE) + NEIGHBOUR * beside


@cache
def _cubic() -> Float[ndarray, "line 9"]:
    """Cubic interpolation between the centres of cells; beyond the last ones they go on."""
    weights = np.zeros((SIDE * FINER, SIDE))
    places = (np.arange(SIDE * FINER) + 0.5) / FINER - 0.5
    first = np.floor(places).astype(int)
    for tap in range(-1, 3):
        distance = np.abs(places - first - tap)
        near = ((BEND + 2.0) * distance - (BEND + 3.0)) * distance**2 + 1.0
        far = BEND * (((distance - 5.0) * distance + 8.0) * distance - 4.0)
        taken = np.where(distance <= 1.0, near, far)
        np.add.at(weights, (np.arange(len(places)), (first + tap).clip(0, SIDE - 1)), taken)
    return weights
