"""A region: how much of what is pointed at lies in each cell of the grid."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.shapes import Float, Float32

NOWHERE = np.zeros(CELLS, np.float32)  # the region of a phrase that is not pointed at

EdgeBox = Sequence[float]  # xmin, xmax, ymin, ymax, and perhaps more, relative to the picture


def region_of_boxes(
    boxes: Sequence[EdgeBox] | Float[ndarray, "box edge"],
) -> Float32[ndarray, "81"]:
    """The share of each cell in the union of some boxes; the shares add up to one.

    What lies outside the picture is cut off. A box without area counts as its nearest cell, and no
    box at all is ``NOWHERE``.
    """
    if len(boxes) == 0:
        return NOWHERE
    edges = np.asarray(boxes, dtype=np.float64)
    if edges.shape[1] < 4 or not np.isfinite(edges[:, :4]).all():
        raise DataError(f"a box is xmin, xmax, ymin, ymax in numbers; found {edges[0].tolist()}")
    turned = (edges[:, 0] > edges[:, 1]) | (edges[:, 2] > edges[:, 3])
    if turned.any():
        found = edges[turned][0, :4].tolist()
        raise DataError(f"the box {found} ends before it begins; xmin <= xmax and ymin <= ymax")
    covered = coverage(edges[:, :4])
    total = covered.sum()
    return (covered / total).astype(np.float32) if total > 1e-9 else _nearest(edges)


def coverage(edges: Float[ndarray, "box 4"]) -> Float[ndarray, "81"]:
    """How much of each cell, 0 to 1, the boxes cover; where they overlap, the largest counts."""
    lines = np.arange(SIDE + 1) / SIDE
    across = _overlap(edges[:, 0:1], edges[:, 1:2], lines)
    down = _overlap(edges[:, 2:3], edges[:, 3:4], lines)
    return (down[:, :, None] * across[:, None, :]).max(axis=0).reshape(CELLS)


def region_of_points(points: Float[ndarray, "point 2"]) -> Float32[ndarray, "81"]:
    """The region of a stroke given as x, y samples: the box around it.

    People circle, cross and scribble over what they mean; the box around a stroke is the one
    reading all of these share.
    """
    if not len(points):
        return NOWHERE
    (xmin, ymin), (xmax, ymax) = points.min(axis=0), points.max(axis=0)
    return region_of_boxes([(xmin, xmax, ymin, ymax)])


def _overlap(
    low: Float[ndarray, "box 1"], high: Float[ndarray, "box 1"], lines: Float[ndarray, " line"]
) -> Float[ndarray, "box cell"]:
    return ((np.minimum(high, lines[1:]) - np.maximum(low, lines[:-1])) * SIDE).clip(0.0, 1.0)


def _nearest(edges: Float[ndarray, "box edge"]) -> Float32[ndarray, "81"]:
    """The cells nearest to the centres of boxes that have no area within the picture."""
    region = np.zeros(CELLS, np.float32)
    centres = np.stack([edges[:, :2].mean(axis=1), edges[:, 2:4].mean(axis=1)])
    x, y = (centres * SIDE).clip(0, SIDE - 1).astype(int)
    region[y * SIDE + x] = 1.0
    return region / region.sum()
