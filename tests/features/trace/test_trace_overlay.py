import numpy as np
from PIL import Image

from deixis.features.trace.narration import Point
from deixis.features.trace.trace_overlay import CANVAS, FIRST, LAST, blank_canvas, with_trace


def test_a_trace_runs_from_blue_to_red_where_it_was_drawn():
    stroke = tuple(Point(i / 20, 0.5, float(i)) for i in range(21))
    drawn = np.asarray(with_trace(blank_canvas(100), [stroke])).astype(int)
    assert np.abs(drawn[50, 2] - FIRST).max() < 30
    assert np.abs(drawn[50, 97] - LAST).max() < 30
    assert (drawn[10] == CANVAS).all()


def test_the_picture_itself_stays_as_it_was():
    picture = Image.new("RGB", (20, 20), "white")
    with_trace(picture, [(Point(0.0, 0.5, 0.0), Point(1.0, 0.5, 1.0))])
    assert (np.asarray(picture) == 255).all()


def test_without_strokes_nothing_is_drawn():
    assert (np.asarray(with_trace(blank_canvas(8), ())) == CANVAS).all()
