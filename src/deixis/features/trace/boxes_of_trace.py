"""A pointer's trace cut into boxes: one per time window, or one per word.

These rules apply no cleaning; what people's traces need before and after is in ``cleaning``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.features.trace.narration import Point
from deixis.shapes import Float, Int

WINDOW = 0.4  # seconds per box
LONGEST = 128  # boxes a trace may have
_SLACK = 1e-9  # 1.2 / 0.4 is a little less than 3 in floating point


@dataclass(frozen=True, slots=True)
class TraceBoxes:
    """The boxes of one trace, in time order, and when each was drawn."""

    boxes: Float[ndarray, "box 5"]
    times: Float[ndarray, "box 2"]  # start and end in seconds
    word: Int[ndarray, " box"]  # the word a box belongs to, -1 when it belongs to a window
    samples: Int[ndarray, " box"]  # points inside; 0 when the box was interpolated

    def __len__(self) -> int:
        return len(self.boxes)


def samples_of(strokes: Sequence[Sequence[Point]]) -> Float[ndarray, "sample 3"]:
    """All points as x, y, t in time order; places are clipped to the canvas.

    Points without a finite place and time are dropped; equal times keep their order of arrival.
    """
    points = [(point.x, point.y, point.t) for stroke in strokes for point in stroke]
    rows = np.array(points, dtype=np.float64).reshape(-1, 3)
    rows = rows[np.isfinite(rows).all(axis=1)]
    rows[:, :2] = rows[:, :2].clip(0.0, 1.0)
    return rows[np.argsort(rows[:, 2], kind="stable")]


def window_boxes(
    samples: Float[ndarray, "sample 3"], window: float = WINDOW, longest: int = LONGEST
) -> TraceBoxes:
    """One box around the points of each window of time that has any.

    Time before zero counts as zero. A trace with too many boxes gets wider windows; its end is
    never dropped.
    """
    bins = _bins(samples, window)
    while len(set(bins)) > longest:
        window *= math.ceil(len(set(bins)) / longest)
        bins = _bins(samples, window)
    kept, first, counts = np.unique(bins, return_index=True, return_counts=True)
    low, high = (
        extreme.reduceat(samples[:, :2], first) if len(first) else samples[:0, :2]
        for extreme in (np.minimum, np.maximum)
    )
    area = (high - low).prod(axis=1)
    boxes = np.column_stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1], area])
    times = np.stack([kept * window, (kept + 1) * window], axis=1)
    return TraceBoxes(boxes, times, np.full(len(kept), -1), counts)


def word_boxes(samples: Float[ndarray, "sample 3"], times: Float[ndarray, "word 2"]) -> TraceBoxes:
    """One box around the points of each word's interval, both ends included.

    A word without points gets an empty box at the place interpolated for its middle; beyond the
    ends of the trace that is its first or last place. A trace without points has no boxes.
    """
    times = np.sort(times, axis=1)
    if len(samples) == 0:
        times = times[:0]
    first = np.searchsorted(samples[:, 2], times[:, 0], side="left")
    last = np.searchsorted(samples[:, 2], times[:, 1], side="right")
    boxes = [
        box_around(samples[start:end] if start < end else _place_at(samples, span.mean()))
        for start, end, span in zip(first, last, times, strict=True)
    ]
    return TraceBoxes(_stacked(boxes), times, np.arange(len(times)), np.maximum(last - first, 0))


def box_around(samples: Float[ndarray, "sample 3"]) -> Float[ndarray, " 5"]:
    """The smallest box that holds some points."""
    (xmin, ymin), (xmax, ymax) = samples[:, :2].min(axis=0), samples[:, :2].max(axis=0)
    return np.array([xmin, xmax, ymin, ymax, (xmax - xmin) * (ymax - ymin)])


def _bins(samples: Float[ndarray, "sample 3"], window: float) -> Int[ndarray, " sample"]:
    return np.floor(samples[:, 2] / window + _SLACK).clip(min=0).astype(np.int64)


def _place_at(samples: Float[ndarray, "sample 3"], time: float) -> Float[ndarray, "1 3"]:
    x, y = (np.interp(time, samples[:, 2], samples[:, axis]) for axis in (0, 1))
    return np.array([[x, y, time]])


def _stacked(boxes: list[Float[ndarray, " 5"]]) -> Float[ndarray, "box 5"]:
    return np.array(boxes, dtype=np.float64).reshape(-1, 5)
