"""Curves lie where their values are."""

from dataclasses import replace

import numpy as np
from PIL import ImageColor

from deixis.explain.drawing import HUES
from deixis.explain.plot import BOTTOM, HIGH, ROW, Curve, plot


def pixels(picture, hue):
    """Where a picture has a hue, as rows and columns."""
    colours = np.asarray(picture).astype(int)
    near = np.abs(colours - ImageColor.getrgb(HUES[hue])).sum(axis=2) < 150
    return near[: HIGH - BOTTOM]  # the field alone, without the legend under it


def curve(mean, hue=0, **more):
    mean = np.array(mean)
    return Curve("a", np.arange(len(mean), dtype=float), mean, np.zeros(len(mean)), hue, **more)


def test_higher_values_are_drawn_higher():
    picture = plot("t", "x", [(0.0, "0")], [curve([1.0, 1.0]), curve([5.0, 5.0], hue=1)])
    low, high = (np.flatnonzero(pixels(picture, hue).any(axis=1)).mean() for hue in (0, 1))
    assert high < low - 100


def test_a_dashed_curve_has_gaps():
    whole, dashed = (
        pixels(plot("t", "x", [(0.0, "0")], [curve([1.0, 2.0], dashed=is_so)]), 0).any(axis=0)
        for is_so in (False, True)
    )
    inner = slice(80, 480)
    assert whole[inner].all() and 0.3 < dashed[inner].mean() < 0.9


def test_the_spread_is_a_band_around_the_mean():
    spread = Curve("a", np.arange(2.0), np.ones(2), np.array([0.5, 0.5]))
    inks = [
        np.asarray(plot("t", "x", [(0.0, "0")], [one]).convert("L"))
        for one in (curve([1.0, 1.0]), spread)
    ]
    bare, banded = ((ink[60:280, 100:500] < 250).mean() for ink in inks)
    assert banded > bare + 0.5


def test_signs_the_font_lacks_are_written_otherwise():
    with_signs = plot("λ −", "x", [(0.0, "0")], [curve([1.0, 2.0])])
    without = plot("lambda -", "x", [(0.0, "0")], [curve([1.0, 2.0])])
    assert np.array_equal(np.asarray(with_signs), np.asarray(without))


def test_names_too_long_to_stand_side_by_side_stand_below_one_another():
    short, long = (
        plot("t", "x", [(0.0, "0")], [replace(curve([1.0, 2.0]), name=name)] * 4)
        for name in ("a", "a name that takes far more than half of the width of a figure")
    )
    assert long.height == short.height + 2 * ROW
