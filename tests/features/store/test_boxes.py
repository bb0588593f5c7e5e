import numpy as np
import pytest

from deixis.errors import DataError
from deixis.features.store.boxes import from_corners, grid_boxes


def test_corners_become_relative_boxes_with_their_area():
    boxes = from_corners(np.array([[20.0, 10.0, 60.0, 50.0]]), width=200.0, height=100.0)
    assert np.allclose(boxes, [[0.1, 0.3, 0.1, 0.5, 0.08]])


def test_a_box_is_cut_at_the_border():
    boxes = from_corners(np.array([[-5.0, 0.0, 105.0, 10.0]]), width=100.0, height=10.0)
    assert np.allclose(boxes, [[0.0, 1.0, 0.0, 1.0, 1.0]])


@pytest.mark.parametrize("corners", [[0.5, 0.0, 0.4, 1.0], [0.0, 0.5, 1.0, 0.4], [np.nan, 0, 1, 1]])
def test_a_reversed_or_undefined_box_is_refused(corners):
    with pytest.raises(DataError, match="box 1"):
        from_corners(np.array([[0.0, 0.0, 1.0, 1.0], corners]))


def test_a_picture_without_size_is_refused():
    with pytest.raises(DataError, match="0"):
        from_corners(np.array([[0.0, 0.0, 1.0, 1.0]]), width=0.0)


def test_grid_cells_tile_the_picture_row_by_row():
    boxes = grid_boxes(7)
    assert np.isclose(boxes[:, 4].sum(), 1.0)
    assert np.allclose(boxes[1], [1 / 7, 2 / 7, 0, 1 / 7, 1 / 49])
    assert np.allclose(boxes[7], [0, 1 / 7, 1 / 7, 2 / 7, 1 / 49])
