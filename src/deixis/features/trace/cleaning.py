"""Clean traces that people drew before they are cut into boxes; and the boxes of such a trace.

The plain rules of ``boxes_of_trace`` take a trace as it is. A person at a canvas leaves it, clicks,
slips or draws for minutes; a person who speaks falls silent. Each rule answers one of these.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.trace.boxes_of_trace import TraceBoxes
from deixis.features.trace.narration import Point
from deixis.shapes import Bool, Float

Stroke = tuple[Point, ...]

BAND = 0.1  # how far outside the canvas a point still belongs to it
CLICK = 0.1  # side of the box a click means: "here", not a point-sized thing
SLIP_SECONDS, SLIP_SIZE = 0.08, 0.005  # a stroke below both, beside real ones, is an accident
MOST_POINTS = 20_000
LONG_POINTS, LONG_SECONDS = 5_000, 60.0  # above either a trace is thinned out
THIN_RATE = 30.0  # points per second of a thinned trace
DRAWN_RATE = 60.0  # points per second where no times were recorded
SILENCE = 1.5  # seconds beyond which the nearest point says nothing about a word
SMALLEST = 0.02  # side of a box
WHOLE_SCENE = 0.6  # share of the canvas above which a box points at nothing in particular


def clean_strokes(strokes: Sequence[Stroke]) -> tuple[Stroke, ...]:
    """Bring a drawn trace into shape: time it, cut it at the canvas, drop slips, widen clicks."""
    count = sum(len(stroke) for stroke in strokes)
    if count > MOST_POINTS:
        raise DataError(f"the trace has {count} points; at most {MOST_POINTS} are read")
    inside = [piece for stroke in _timed(strokes) for piece in _cut_outside(stroke)]
    real = [stroke for stroke in inside if not _is_slip(stroke)]
    kept = real or [_widened(stroke) for stroke in inside]
    return _thinned(kept)


def drop_silent(
    boxes: TraceBoxes, samples: Float[ndarray, "sample 3"], silence: float = SILENCE
) -> TraceBoxes:
    """Leave out boxes whose interval is far from every point: interpolation would invent them."""
    start, end = boxes.times.T
    before = np.concatenate([[-np.inf], samples[:, 2]])
    after = np.concatenate([samples[:, 2], [np.inf]])
    place = np.searchsorted(samples[:, 2], start)
    gap = np.minimum(start - before[place], after[place] - end)
    near = (boxes.samples > 0) | (gap <= silence)
    return TraceBoxes(boxes.boxes[near], boxes.times[near], boxes.word[near], boxes.samples[near])


def grow(boxes: Float[ndarray, "box 5"], smallest: float = SMALLEST) -> Float[ndarray, "box 5"]:
    """Widen sides that are too small around their middle, moved back inside the canvas."""
    sides = []
    for low, high in ((boxes[:, 0], boxes[:, 1]), (boxes[:, 2], boxes[:, 3])):
        side = np.maximum(high - low, smallest)
        start = np.where(high - low < smallest, (low + high - side) / 2, low).clip(0, 1 - side)
        sides += [start, start + side]
    area = (sides[1] - sides[0]) * (sides[3] - sides[2])
    return np.stack([*sides, area], axis=1)


def whole_scene(boxes: Float[ndarray, "box 5"]) -> Bool[ndarray, " box"]:
    """Which boxes cover so much that they point at nothing in particular."""
    return boxes[:, 4] > WHOLE_SCENE


def _timed(strokes: Sequence[Stroke]) -> list[list[Point]]:
    """Drop what has no place or time; where nothing has a time, count it off in drawing order."""
    placed = [[p for p in s if math.isfinite(p.x) and math.isfinite(p.y)] for s in strokes]
    if any(math.isfinite(point.t) for stroke in placed for point in stroke):
        return [[p for p in stroke if math.isfinite(p.t)] for stroke in placed]
    clock = iter(range(MOST_POINTS + 1))
    return [[Point(p.x, p.y, next(clock) / DRAWN_RATE) for p in stroke] for stroke in placed]


def _cut_outside(stroke: list[Point]) -> list[list[Point]]:
    """The pieces of a stroke that lie on the canvas or in the band around it, clipped to it."""
    if all(0 <= point.x <= 1 and 0 <= point.y <= 1 for point in stroke):
        return [stroke] if stroke else []
    pieces: list[list[Point]] = [[]]
    for point in stroke:
        if min(point.x, point.y) >= -BAND and max(point.x, point.y) <= 1 + BAND:
            pieces[-1].append(Point(_clip(point.x), _clip(point.y), point.t))
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _is_slip(stroke: list[Point]) -> bool:
    seconds = stroke[-1].t - stroke[0].t
    return abs(seconds) < SLIP_SECONDS and _extent(stroke) < SLIP_SIZE


def _extent(stroke: list[Point]) -> float:
    across, down = [p.x for p in stroke], [p.y for p in stroke]
    return max(max(across) - min(across), max(down) - min(down))


def _widened(stroke: list[Point]) -> list[Point]:
    """A click as two opposite corners of the box it means."""
    x, y = (min(max(side, CLICK / 2), 1 - CLICK / 2) for side in (stroke[0].x, stroke[0].y))
    return [Point(x + sign * CLICK / 2, y + sign * CLICK / 2, stroke[0].t) for sign in (-1, 1)]


def _thinned(strokes: list[list[Point]]) -> tuple[Stroke, ...]:
    times = [point.t for stroke in strokes for point in stroke]
    if len(times) <= LONG_POINTS and (not times or max(times) - min(times) <= LONG_SECONDS):
        return tuple(tuple(stroke) for stroke in strokes)
    return tuple(_sampled(stroke) for stroke in strokes)


def _sampled(stroke: list[Point]) -> Stroke:
    """The first point of every thirtieth of a second, and the last point of all."""
    kept: dict[int, Point] = {}
    for point in stroke:
        kept.setdefault(math.floor(point.t * THIN_RATE), point)
    points = list(kept.values())
    return tuple(points if points[-1] is stroke[-1] else [*points, stroke[-1]])


def _clip(side: float) -> float:
    return min(max(side, 0.0), 1.0)
