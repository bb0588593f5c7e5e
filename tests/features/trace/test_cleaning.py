import math

import numpy as np
import pytest

from deixis.errors import DataError
from deixis.features.trace.boxes_of_trace import samples_of, window_boxes, word_boxes
from deixis.features.trace.cleaning import (
    MOST_POINTS,
    clean_strokes,
    drop_silent,
    grow,
    whole_scene,
)
from deixis.features.trace.narration import Point


def line(count: int, seconds: float, start: float = 0.0) -> tuple[Point, ...]:
    return tuple(Point(i / count, 0.5, start + seconds * i / count) for i in range(count))


def test_points_in_the_band_are_clipped_and_farther_ones_cut_the_stroke():
    stroke = (
        Point(0.5, 0.5, 0.0),
        Point(1.05, 0.5, 0.1),
        Point(1.5, 0.5, 0.2),
        Point(0.9, -0.02, 0.3),
        Point(0.2, 0.4, 0.4),
    )
    first, second = clean_strokes([stroke])
    assert first == (Point(0.5, 0.5, 0.0), Point(1.0, 0.5, 0.1))
    assert second == (Point(0.9, 0.0, 0.3), Point(0.2, 0.4, 0.4))


def test_points_without_place_or_time_are_dropped():
    stroke = (*line(3, 1.0), Point(math.nan, 0.5, 2.0), Point(0.5, 0.5, math.nan))
    assert clean_strokes([stroke]) == (line(3, 1.0),)


def test_a_trace_without_any_times_is_timed_at_sixty_per_second():
    untimed = tuple(Point(i / 10, 0.5, math.nan) for i in range(4))
    cleaned = clean_strokes([untimed, untimed])
    times = [point.t for stroke in cleaned for point in stroke]
    assert times == pytest.approx([i / 60 for i in range(8)])


@pytest.mark.parametrize(("x", "y", "box"), [(0.5, 0.4, [0.45, 0.55, 0.35, 0.45, 0.01])])
def test_a_click_means_a_box_around_it(x, y, box):
    samples = samples_of(clean_strokes([(Point(x, y, 1.0),)]))
    assert window_boxes(samples).boxes[0] == pytest.approx(box)


def test_a_click_at_the_border_stays_a_whole_box_inside():
    samples = samples_of(clean_strokes([(Point(1.0, 0.0, 1.0),)]))
    assert window_boxes(samples).boxes[0] == pytest.approx([0.9, 1.0, 0.0, 0.1, 0.01])


def test_several_clicks_alone_are_all_meant():
    assert len(clean_strokes([(Point(0.2, 0.2, 1.0),), (Point(0.8, 0.8, 2.0),)])) == 2


def test_a_slip_beside_a_real_stroke_is_ignored():
    slip = (Point(0.9, 0.9, 3.0), Point(0.901, 0.9, 3.05))
    assert clean_strokes([line(5, 1.0), slip]) == (line(5, 1.0),)


def test_a_short_stroke_that_lasts_is_kept():
    held = (Point(0.9, 0.9, 3.0), Point(0.901, 0.9, 3.5))
    assert len(clean_strokes([line(5, 1.0), held])) == 2


@pytest.mark.parametrize(("count", "seconds"), [(6000, 50.0), (4000, 100.0)])
def test_a_very_long_trace_is_thinned_to_thirty_per_second_and_keeps_its_ends(count, seconds):
    stroke = line(count, seconds)
    (thinned,) = clean_strokes([stroke])
    assert len(thinned) <= 30 * seconds + 2
    assert (thinned[0], thinned[-1]) == (stroke[0], stroke[-1])


def test_an_ordinary_trace_keeps_every_point():
    assert clean_strokes([line(5000, 59.0)]) == (line(5000, 59.0),)


def test_a_trace_above_the_hard_limit_is_refused():
    with pytest.raises(DataError, match="20001 points; at most 20000"):
        clean_strokes([line(MOST_POINTS + 1, 10.0)])


def test_a_word_far_from_every_point_gets_no_box():
    samples = samples_of([line(10, 1.0, start=5.0)])
    times = np.array([[1.0, 3.4], [3.0, 3.6], [5.1, 5.3], [6.0, 6.2], [7.5, 8.0]])
    kept = drop_silent(word_boxes(samples, times), samples)
    assert kept.word.tolist() == [1, 2, 3]


def test_without_points_there_is_nothing_to_drop():
    samples = samples_of([])
    assert len(drop_silent(word_boxes(samples, np.array([[0.0, 1.0]])), samples)) == 0


def test_tiny_boxes_grow_around_their_middle_and_stay_inside():
    boxes = np.array([[0.5, 0.5, 0.0, 0.005, 0.0], [0.1, 0.3, 0.1, 0.5, 0.08]])
    grown = grow(boxes, 0.02)
    assert grown[0] == pytest.approx([0.49, 0.51, 0.0, 0.02, 0.0004])
    assert grown[1] == pytest.approx(boxes[1])


def test_a_box_over_most_of_the_canvas_is_the_whole_scene():
    boxes = np.array([[0.0, 0.9, 0.0, 0.9, 0.81], [0.0, 0.5, 0.0, 0.5, 0.25]])
    assert whole_scene(boxes).tolist() == [True, False]
