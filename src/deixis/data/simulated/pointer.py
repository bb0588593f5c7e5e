"""A simulated pointer that circles things while they are named."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.features.trace.narration import Point

_RATE = 20.0  # samples per second
_TURNS = 1.3  # rounds per second around a thing


@dataclass(frozen=True, slots=True)
class Visit:
    """The seconds in which the pointer circles a thing, where it is and how large."""

    middle: tuple[float, float]
    size: tuple[float, float]
    start: float
    end: float


def circle(visits: Sequence[Visit], rng: np.random.Generator) -> tuple[Point, ...]:
    """The stroke: wander, travel, and circle each thing while it is named and shortly after.

    Between key frames the middle of the circle and its radius change evenly; a radius of zero is
    plain travel.
    """
    lag = float(rng.normal(0.1, 0.12))
    frames = _wander(visits[0].start + lag, rng)
    for visit in visits:
        x, y = rng.normal(visit.middle, 0.03)
        wide, high = rng.uniform(0.5, 1.1, size=2) * visit.size / 2
        begin, end = visit.start + lag, visit.end + lag + 0.15
        frames += [(begin - 0.02, x, y, 0.0, 0.0), (begin, x, y, wide, high)]
        frames += [(end, x, y, wide, high), (end + 0.02, x, y, 0.0, 0.0)]
    keys = np.array(frames)
    times = np.arange(0, keys[-1, 0], 1 / _RATE)
    x, y, wide, high = (np.interp(times, keys[:, 0], keys[:, i]) for i in range(1, 5))
    angle = 2 * np.pi * (_TURNS * times + rng.random())
    places = np.stack([x + wide * np.cos(angle), y + high * np.sin(angle)], axis=1)
    return _stroke(times, places + rng.normal(0, 0.015, size=places.shape))


def _wander(until: float, rng: np.random.Generator) -> list[tuple[float, ...]]:
    times = np.arange(0, max(until - 0.4, 0.1), 0.5)
    return [(float(t), *map(float, rng.uniform(0.1, 0.9, size=2)), 0.0, 0.0) for t in times]


def _stroke(
    times: Float[ndarray, " sample"], places: Float[ndarray, "sample 2"]
) -> tuple[Point, ...]:
    rows = np.round(np.column_stack([places, times]), 4).tolist()
    return tuple(Point(x, y, t) for x, y, t in rows)
