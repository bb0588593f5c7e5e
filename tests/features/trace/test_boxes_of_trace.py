import json
import math
from pathlib import Path

import numpy as np
import pytest

from deixis.data.formats.narratives.localized_narratives import read_narratives
from deixis.features.trace.boxes_of_trace import (
    LONGEST,
    samples_of,
    window_boxes,
    word_boxes,
)
from deixis.features.trace.cleaning import grow
from deixis.features.trace.narration import Narration, Point

GOLDEN = Path(__file__).parents[2] / "golden" / "trace"
EXPECTED = json.loads((GOLDEN / "expected_boxes.json").read_text())["records"]


def narrations() -> dict[str, Narration]:
    files = ("vidln_real_lnformat.jsonl", "edge_cases_lnformat.jsonl")
    lines = [narrative for file in files for narrative in read_narratives(GOLDEN / file)]
    return {line.image: line.narration for line in lines}


NARRATIONS = narrations()


def times_of(narration: Narration) -> np.ndarray:
    return np.array([[w.start, w.end] for w in narration.words]).reshape(-1, 2)


@pytest.mark.parametrize("record", EXPECTED)
def test_windows_equal_the_golden_boxes(record):
    found = window_boxes(samples_of(NARRATIONS[record].strokes))
    expected = EXPECTED[record]["window_boxes"]
    assert [round(t / 0.4) for t in found.times[:, 0]] == [row["bin"] for row in expected]
    assert found.samples.tolist() == [row["n"] for row in expected]
    wanted = np.array([row["box"] for row in expected]).reshape(-1, 5)
    assert np.abs(found.boxes - wanted).max(initial=0) <= 1e-6


@pytest.mark.parametrize("record", EXPECTED)
@pytest.mark.parametrize("key", ["word_boxes", "word_boxes_min_size_0.02"])
def test_words_equal_the_golden_boxes(record, key):
    narration, expected = NARRATIONS[record], EXPECTED[record][key]
    samples, times = samples_of(narration.strokes), times_of(narration)
    found = word_boxes(samples, times)
    boxes = grow(found.boxes) if key.endswith("0.02") else found.boxes
    expected = [row for row in expected if row["src"] != "none"]
    assert len(boxes) == len(expected)
    assert found.samples.tolist() == [row["n"] for row in expected]
    wanted = np.array([row["box"] for row in expected]).reshape(-1, 5)
    assert np.abs(boxes - wanted).max(initial=0) <= 1e-6


def test_a_reversed_word_is_read_forwards():
    samples = samples_of([[Point(0.1, 0.2, 1.0), Point(0.3, 0.6, 1.5)]])
    forwards = word_boxes(samples, np.array([[0.9, 1.6]]))
    backwards = word_boxes(samples, np.array([[1.6, 0.9]]))
    assert np.array_equal(forwards.boxes, backwards.boxes)


def test_time_before_zero_counts_as_zero_and_broken_points_as_nothing():
    stroke = [Point(0.1, 0.1, -3.0), Point(0.2, 0.2, 0.1), Point(math.nan, 0.9, 0.1)]
    found = window_boxes(samples_of([stroke, [Point(0.9, 0.9, math.inf)]]))
    assert found.times.tolist() == [[0.0, 0.4]]
    assert found.boxes[0] == pytest.approx([0.1, 0.2, 0.1, 0.2, 0.01])


@pytest.mark.parametrize("pause", [0.4, 4.0])
def test_a_long_trace_merges_windows_and_keeps_its_end(pause):
    stroke = [Point(i / 400, 0.5, i * pause) for i in range(400)]
    found = window_boxes(samples_of([stroke]))
    assert len(found) <= LONGEST
    assert found.samples.sum() == 400
    assert found.boxes[-1, 1] == 399 / 400
