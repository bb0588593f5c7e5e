"""Regions moved by a cell: where they lie, and what leaves the picture."""

import numpy as np
import pytest

from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.similarity.places.moved_regions import MOVES, log_chances, moved_regions


def at(y: int, x: int) -> np.ndarray:
    region = np.zeros(CELLS, np.float32)
    region[y * SIDE + x] = 1.0
    return region


def test_a_cell_is_moved_to_its_eight_neighbours_and_stays_once():
    moved = moved_regions(at(4, 4)[None])[0]
    assert moved.shape == (MOVES, CELLS)
    found = {tuple(np.argwhere(one.reshape(SIDE, SIDE))[0].tolist()) for one in moved}
    assert found == {(y, x) for y in (3, 4, 5) for x in (3, 4, 5)}
    assert (moved[MOVES // 2] == at(4, 4)).all()


def test_what_leaves_the_picture_is_cut_off_and_a_region_that_would_leave_it_stays():
    wide = (at(0, 0) + at(1, 0)) / 2
    moved = moved_regions(np.stack([wide, at(0, 0)]))
    assert np.allclose(moved.sum(axis=-1), 1.0)
    assert (moved[0, 1] == at(0, 0)).all()  # one up: the upper cell is gone
    assert (moved[1, 1] == at(0, 0)).all()  # one up: nothing would be left


def test_no_region_stays_none():
    assert not moved_regions(np.zeros((1, CELLS), np.float32)).any()


def test_chances_add_up_to_one_and_fall_with_the_distance():
    chances = np.exp(log_chances(0.6))
    assert chances.sum() == pytest.approx(1.0, abs=1e-6)
    corner, side, middle = chances[0], chances[1], chances[4]
    assert corner < side < middle
    assert np.exp(log_chances(0.05))[4] == pytest.approx(1.0)
