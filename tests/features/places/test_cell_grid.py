"""Feature maps brought onto the grid."""

import numpy as np
import pytest

from deixis.features.places.cell_grid import CELLS, SIDE, coarser, mean_of_mirrored, on_grid


@pytest.mark.parametrize("side", [7, 9, 14, 17])
def test_a_constant_map_stays_constant(side):
    cells = on_grid(np.full((2, side * side, 3), 4.0, np.float32))
    assert cells.shape == (2, CELLS, 3)
    assert np.allclose(cells, 4.0)


@pytest.mark.parametrize("side", [7, 14, 17])
def test_a_slope_keeps_its_direction(side):
    across = np.tile(np.arange(side, dtype=np.float32), side)[None, :, None]
    row = on_grid(across).reshape(SIDE, SIDE)[4]
    assert (np.diff(row) > 0).all()


@pytest.mark.parametrize("side", [7, 14, 17])
def test_the_mean_of_a_finer_map_is_kept(side):
    maps = np.random.default_rng(0).normal(size=(1, side * side, 2)).astype(np.float32)
    if side > SIDE:
        assert np.allclose(on_grid(maps).mean(axis=1), maps.mean(axis=1), atol=1e-5)


def test_a_map_and_that_of_the_mirror_image_turned_back_agree_about_places():
    maps = np.random.default_rng(0).normal(size=(2, 49, 3)).astype(np.float32)
    turned = maps.reshape(2, 7, 7, 3)[:, :, ::-1].reshape(maps.shape)
    assert np.array_equal(mean_of_mirrored(maps, turned), maps)
    other = np.random.default_rng(1).normal(size=maps.shape).astype(np.float32)
    back = other.reshape(2, 7, 7, 3)[:, :, ::-1].reshape(maps.shape)
    assert np.array_equal(mean_of_mirrored(maps, other), (maps + back) / 2)


@pytest.mark.parametrize("side", [1, 3, 4])
def test_fewer_cells_keep_the_mean_and_where_things_are(side):
    cells = np.random.default_rng(0).normal(size=(2, CELLS, 3)).astype(np.float32)
    few = coarser(cells, side)
    assert few.shape == (2, side * side, 3)
    assert np.allclose(few.mean(axis=1), cells.mean(axis=1), atol=1e-5)
    corner = np.zeros((1, CELLS, 1), np.float32)
    corner[0, -1] = 1.0
    assert coarser(corner, side)[0, :, 0].argmax() == side * side - 1


def test_three_by_three_is_the_mean_of_nine_cells():
    cells = np.random.default_rng(0).normal(size=(1, CELLS, 1)).astype(np.float32)
    first = cells.reshape(SIDE, SIDE)[:3, :3].mean()
    assert np.allclose(coarser(cells, 3)[0, 0, 0], first, atol=1e-6)
