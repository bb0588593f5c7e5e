"""Places drawn from memory."""

import numpy as np

from deixis.data.groundings.remembered_places import moved_boxes, scribble

BOXES = np.array([[[0.2, 0.4, 0.1, 0.5, 0.08], [0.6, 0.8, 0.1, 0.5, 0.08]]], np.float32)
BOTH = np.ones((1, 2), dtype=bool)


def test_a_move_moves_all_boxes_of_a_phrase_together():
    moved = moved_boxes(BOXES, BOTH, np.array([[0.1, -0.05]]), np.ones(1))
    assert np.allclose(moved[..., :2], BOXES[..., :2] + 0.1)
    assert np.allclose(moved[..., 2:4], BOXES[..., 2:4] - 0.05)


def test_a_size_grows_about_the_centre_of_the_union():
    grown = moved_boxes(BOXES, BOTH, np.zeros((1, 2)), np.array([2.0]))
    assert np.allclose(grown[0, 0, :4], [-0.1, 0.3, -0.1, 0.7])
    assert np.allclose(grown[0, 1, :4], [0.7, 1.1, -0.1, 0.7])
    assert np.allclose(grown[..., 4], 0.32)


def test_padding_is_no_part_of_the_union():
    mask = np.array([[True, False]])
    grown = moved_boxes(BOXES, mask, np.zeros((1, 2)), np.array([2.0]))
    assert np.allclose(grown[0, 0, :4], [0.1, 0.5, -0.1, 0.7])


def test_a_scribble_stays_in_its_box():
    stroke = scribble(BOXES[0, 0], np.random.default_rng(0))
    assert stroke.min(axis=0)[0] >= 0.2 and stroke.max(axis=0)[0] <= 0.4
    assert stroke.min(axis=0)[1] >= 0.1 and stroke.max(axis=0)[1] <= 0.5
    assert len(np.unique(stroke, axis=0)) > 10
