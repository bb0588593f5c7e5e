"""Maps of phrases as they are shown."""

import numpy as np
import pytest

from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.features.places.phrase_map import peaks, shown_maps


def scores(*cells: tuple[int, int]) -> np.ndarray:
    found = np.zeros((SIDE, SIDE))
    for y, x in cells:
        found[y, x] = 6.0
    return found.reshape(CELLS)


def test_a_map_adds_up_to_one_and_peaks_at_its_cell():
    corner, inside = shown_maps(scores((0, 0))), shown_maps(scores((4, 6)))
    assert corner.sum() == pytest.approx(1.0) and inside.sum() == pytest.approx(1.0)
    assert corner.argmax() == 0
    assert peaks(inside) == pytest.approx([6.5 / SIDE, 4.5 / SIDE])
    assert (peaks(corner) < 1 / SIDE).all()


def test_the_peak_of_two_cells_lies_between_them():
    x, y = peaks(shown_maps(scores((4, 4), (4, 5))))
    assert 4.6 / SIDE < x < 5.4 / SIDE
    assert y == pytest.approx(4.5 / SIDE)


def test_a_cell_with_like_neighbours_outweighs_a_single_one():
    wide = scores((2, 2), (2, 3), (3, 2), (3, 3))
    wide[7 * SIDE + 7] = 6.1
    assert wide.argmax() == 7 * SIDE + 7
    x, y = peaks(shown_maps(wide))
    assert 2 / SIDE < x < 4 / SIDE and 2 / SIDE < y < 4 / SIDE


def test_several_maps_are_read_one_by_one_and_large_scores_do_not_overflow():
    several = np.stack([scores((1, 1)), 1e3 * scores((5, 7))])
    found = peaks(shown_maps(several))
    assert found.shape == (2, 2)
    for one, point in zip(several, found, strict=True):
        assert np.array_equal(peaks(shown_maps(one)), point)


def test_a_mirrored_map_peaks_at_the_mirrored_point():
    made = np.random.default_rng(0).normal(size=CELLS) * 3
    turned = made.reshape(SIDE, SIDE)[:, ::-1].reshape(CELLS)
    x, y = peaks(shown_maps(made))
    assert peaks(shown_maps(turned)) == pytest.approx([1 - x, y])
