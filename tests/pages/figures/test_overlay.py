"""Attention glows where the weight is, and only if it prefers something."""

import numpy as np
import pytest
from PIL import Image

from deixis.features.store.boxes import grid_boxes
from deixis.pages.figures.overlay import overlay, painted

GREY = Image.new("RGB", (60, 60), (90, 90, 90))


def glow(weights):
    drawn = np.asarray(overlay(GREY, grid_boxes(3), np.array(weights)), dtype=int)
    return drawn[:, :, 0] - drawn[:, :, 2]


def test_the_region_with_most_weight_glows_most():
    red = glow([0.6, 0.2] + [0.2 / 7] * 7)
    assert red[10, 10] > 2 * red[10, 30] > 2 * red[50, 50] > 0


def test_attention_that_prefers_nothing_stays_pale():
    assert glow([1 / 9] * 9).max() < 0.5 * glow([0.6] + [0.05] * 8).max()


def test_smaller_regions_lie_on_larger_ones():
    boxes = np.array([[0, 0.5, 0, 0.5, 0.25], [0, 1, 0, 1, 1]], dtype=np.float32)
    field = painted(boxes, np.array([0.9, 0.1]), (60, 60))
    assert field[10, 10] == pytest.approx(0.9)
    assert field[50, 50] == pytest.approx(0.1)
