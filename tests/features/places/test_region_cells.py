"""Regions of any kind become the cells a place head reads."""

import numpy as np
import pytest
import torch

from deixis.encoders.image.cell_projection import CellProjection
from deixis.errors import DataError
from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.features.places.region_cells import cell_weights, cells_of_regions
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.packed import PackedRegions
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Regions


def test_a_grid_of_cells_stays_as_it_is():
    values = np.random.default_rng(0).normal(size=(CELLS, 3)).astype(np.float32)
    packed = PackedRegions(values, np.array([0, CELLS]), grid_boxes(SIDE))
    assert np.array_equal(cells_of_regions(packed)[0], values)
    assert np.allclose(cell_weights(grid_boxes(SIDE)), np.eye(CELLS), atol=1e-4)


def test_a_patch_lies_where_its_box_is():
    weights = cell_weights(grid_boxes(3))
    square = weights.reshape(SIDE, SIDE, 9)
    assert np.allclose(square[:3, :3, 0], 1.0) and np.allclose(square[3:6, 6:, 5], 1.0)
    assert np.allclose(weights.sum(axis=1), 1.0)


def test_a_cell_without_a_region_takes_the_nearest():
    boxes = np.array([[0.0, 0.2, 0.0, 0.2, 0.04], [0.8, 1.0, 0.8, 1.0, 0.04]], np.float32)
    square = cell_weights(boxes).reshape(SIDE, SIDE, 2)
    assert square[0, 3].tolist() == [1.0, 0.0]
    assert square[8, 5].tolist() == [0.0, 1.0]


def test_a_small_box_is_not_lost_in_the_large_one_around_it():
    boxes = np.array([[0.0, 1.0, 0.0, 1.0, 1.0], [0.4, 0.6, 0.4, 0.6, 0.04]], np.float32)
    assert cell_weights(boxes).reshape(SIDE, SIDE, 2)[4, 4, 1] > 0.9


def test_regions_without_boxes_are_refused():
    with pytest.raises(DataError, match="regions with boxes"):
        cells_of_regions(PackedRegions(np.ones((5, 2), np.float32), np.array([0, 5])))


def test_torch_and_numpy_make_the_same_cells():
    torch.manual_seed(0)
    body = CellProjection(4, 3, dropout=0.0).eval()
    boxes = grid_boxes(2)
    values = torch.randn(2, 4, 4)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    batch = Regions(values, mask, torch.from_numpy(np.stack([boxes, boxes])))
    with torch.no_grad():
        found, real = body(batch)
        rows = np.concatenate([values[0].numpy(), values[1, :2].numpy()])
        packed = PackedRegions(rows, np.array([0, 4, 6]), np.concatenate([boxes, boxes[:2]]))
        wanted = l2_normalise(body.cell(torch.from_numpy(cells_of_regions(packed))))
    assert real.all() and torch.allclose(found, wanted, atol=1e-5)
