"""Regions of any kind, patches or detected boxes, brought onto the grid of cells for pointing."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float, Float32
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.packed import PackedRegions

GRID = grid_boxes(SIDE)


def cells_of_regions(regions: PackedRegions) -> Float32[ndarray, "picture 81 feature"]:
    """The regions of every picture as cells; what is a grid of 9 x 9 already stays as it is."""
    found = np.zeros((len(regions), CELLS, regions.values.shape[1]), np.float32)
    for picture, (a, b) in enumerate(zip(regions.offsets, regions.offsets[1:], strict=False)):
        values = np.asarray(regions.values[a:b], dtype=np.float32)
        boxes = None if regions.boxes is None else np.asarray(regions.boxes[a:b], np.float32)
        found[picture] = values if is_grid(len(values), boxes) else cell_weights(boxes) @ values
    return found


def is_grid(count: int, boxes: Float[ndarray, "region 5"] | None) -> bool:
    """Whether regions are the cells themselves, in their order."""
    return count == CELLS and (boxes is None or np.allclose(boxes[:, :4], GRID[:, :4], atol=1e-3))


def cell_weights(boxes: Float[ndarray, "region 5"] | None) -> Float32[ndarray, "81 region"]:
    """How much of each region a cell is made of; the weights of a cell add up to one.

    A region counts by the share of its own area that lies in the cell, so that a small thing is
    not lost in the large box around it. A cell that no region covers takes the nearest one.
    """
    if boxes is None or not len(boxes):
        raise DataError("a place head reads regions with boxes; these features have none")
    return _weights(np.ascontiguousarray(boxes[:, :4], dtype=np.float32).tobytes())


@lru_cache(maxsize=64)  # patches lie alike in every picture
def _weights(edges: bytes) -> Float32[ndarray, "81 region"]:
    boxes = np.frombuffer(edges, np.float32).reshape(-1, 4)
    across = np.minimum(GRID[:, None, 1], boxes[:, 1]) - np.maximum(GRID[:, None, 0], boxes[:, 0])
    down = np.minimum(GRID[:, None, 3], boxes[:, 3]) - np.maximum(GRID[:, None, 2], boxes[:, 2])
    area = (boxes[:, 1] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 2])
    shares = across.clip(0.0) * down.clip(0.0) / area.clip(1e-6)
    bare = shares.sum(axis=1) < 1e-6
    shares[bare] = np.eye(len(boxes), dtype=np.float32)[_nearest(boxes)[bare]]
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)


def _nearest(boxes: Float32[ndarray, "region 4"]) -> ndarray:
    cells, regions = (
        np.stack([one[:, :2].mean(axis=1), one[:, 2:4].mean(axis=1)], axis=1)
        for one in (GRID, boxes)
    )
    nearest: ndarray = np.linalg.norm(cells[:, None] - regions, axis=2).argmin(axis=1)
    return nearest
