"""Regions: boxes and strokes as shares of cells."""

import numpy as np
import pytest

from deixis.errors import DataError
from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.features.places.pointed_region import NOWHERE, region_of_boxes, region_of_points


def test_the_whole_picture_is_shared_evenly():
    assert np.allclose(region_of_boxes([(0.0, 1.0, 0.0, 1.0)]), 1 / CELLS)


def test_a_box_of_one_cell_is_that_cell():
    region = region_of_boxes([(2 / SIDE, 3 / SIDE, 1 / SIDE, 2 / SIDE)])
    assert region.argmax() == 1 * SIDE + 2
    assert region.max() == pytest.approx(1.0)


def test_two_boxes_are_their_union_not_their_sum():
    once = region_of_boxes([(0.1, 0.4, 0.2, 0.6)])
    assert np.allclose(region_of_boxes([(0.1, 0.4, 0.2, 0.6)] * 2), once)


def test_what_lies_outside_is_cut_off():
    assert np.allclose(
        region_of_boxes([(-1.0, 0.5, -1.0, 0.5)]), region_of_boxes([(0.0, 0.5, 0.0, 0.5)])
    )


def test_a_box_outside_counts_as_the_nearest_cell():
    assert region_of_boxes([(1.2, 1.4, 0.0, 0.05)]).argmax() == SIDE - 1


def test_no_box_is_nowhere():
    assert (region_of_boxes([]) == NOWHERE).all()
    assert (region_of_points(np.zeros((0, 2))) == NOWHERE).all()


def test_a_stroke_is_the_box_around_it():
    stroke = np.array([[0.2, 0.3], [0.5, 0.9], [0.4, 0.1]])
    assert np.allclose(region_of_points(stroke), region_of_boxes([(0.2, 0.5, 0.1, 0.9)]))


def test_a_point_is_its_cell():
    assert region_of_points(np.array([[0.5, 0.5]])).argmax() == CELLS // 2


@pytest.mark.parametrize("box", [(0.1, float("nan"), 0.2, 0.3), (0.1, 0.2, 0.3, float("inf"))])
def test_a_box_that_is_no_box_is_refused(box):
    with pytest.raises(DataError, match="xmin, xmax, ymin, ymax"):
        region_of_boxes([box])


@pytest.mark.parametrize("box", [(0.6, 0.2, 0.1, 0.3), (0.1, 0.3, 0.9, 0.2)])
def test_a_box_that_ends_before_it_begins_is_refused(box):
    with pytest.raises(DataError, match="ends before it begins"):
        region_of_boxes([(0.1, 0.2, 0.1, 0.2), box])
