"""Boxes in the one order of deixis: xmin, xmax, ymin, ymax, area, relative to the picture."""

import numpy as np
from numpy import ndarray

from deixis.errors import DataError
from deixis.shapes import Float


def from_corners(
    corners: Float[ndarray, "box 4"], width: float = 1.0, height: float = 1.0
) -> Float[ndarray, "box 5"]:
    """Turn x1, y1, x2, y2 in units of the picture's width and height into boxes.

    Detectors leave the picture by a pixel or so: what lies outside is cut off.

    >>> from_corners(np.array([[0.0, 10.0, 50.0, 20.0]]), width=100.0, height=20.0).tolist()
    [[0.0, 0.5, 0.5, 1.0, 0.25]]
    """
    if width <= 0 or height <= 0:
        raise DataError(f"a picture of {width} x {height} has no boxes; both must be above 0")
    x1, y1, x2, y2 = (corners / np.array([width, height, width, height])).clip(0.0, 1.0).T
    wrong = np.flatnonzero(~((x1 <= x2) & (y1 <= y2)))  # also true for not-a-number
    if len(wrong):
        found = corners[wrong[0]].tolist()
        raise DataError(f"box {wrong[0]} is {found}; wanted x1 <= x2 and y1 <= y2")
    boxes = np.stack([x1, x2, y1, y2, (x2 - x1) * (y2 - y1)], axis=1)
    return boxes.astype(np.float32)


def grid_boxes(rows: int, columns: int = 0) -> Float[ndarray, "cell 5"]:
    """Boxes of a grid of cells, row by row from the top left; a square unless columns are given."""
    columns = columns or rows
    y, x = (index.ravel() for index in np.mgrid[:rows, :columns])
    corners = [x / columns, y / rows, (x + 1) / columns, (y + 1) / rows]
    return from_corners(np.stack(corners, axis=1))
