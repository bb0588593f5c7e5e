"""The facts of a scene: which things are where, on which background, in which twin group."""

from dataclasses import dataclass, replace

import numpy as np

from deixis.data.simulated.scenes.backgrounds import BACKGROUNDS
from deixis.data.simulated.scenes.objects import COLOURS, NOUNS

DESCRIBED = 3  # how many of a scene's things a narration speaks of: the first ones
TWINS = 4  # images in a twin group
_NEAREST = 0.20  # between two centres
_EXTENTS = {"small": (0.12, 0.15), "medium": (0.17, 0.20), "large": (0.23, 0.26)}
SIZES = tuple(_EXTENTS)


@dataclass(frozen=True, slots=True)
class Thing:
    """One object of a scene: what it is, and the square it fills, relative to the picture."""

    noun: str
    colour: str
    size: str
    x: float  # of the centre
    y: float
    extent: float  # of a side

    @property
    def box(self) -> tuple[float, float, float, float, float]:
        """The square as xmin, xmax, ymin, ymax, area."""
        half = self.extent / 2
        return (self.x - half, self.x + half, self.y - half, self.y + half, self.extent**2)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a picture shows; no noun occurs twice."""

    background: str
    things: tuple[Thing, ...]
    group: int = -1  # of twins; -1 outside
    twin: int = -1  # place in the group

    @property
    def described(self) -> tuple[Thing, ...]:
        """The things narrations of this scene speak of."""
        return self.things[:DESCRIBED]


def make_scenes(count: int, groups: int, rng: np.random.Generator, first_group: int) -> list[Scene]:
    """Make scenes, the first four times ``groups`` of them in twin groups, the others alone."""
    scenes: list[Scene] = []
    for group in range(first_group, first_group + groups):
        scenes += _make_twins(group, rng)
    return scenes + [_make_scene(rng) for _ in range(count - len(scenes))]


def _make_twins(group: int, rng: np.random.Generator) -> list[Scene]:
    """Four scenes of the same things: two with two of them exchanged, two laid out again.

    The two that change places are of one size, so the same squares are filled before and after:
    only which thing is where distinguishes the first two.
    """
    things = list(_make_scene(rng).things)
    things[1] = replace(things[1], size=things[0].size, extent=things[0].extent)
    ground = _any_of(BACKGROUNDS, rng)
    layouts = [_lay_out(things, rng) for _ in range(TWINS - 1)]
    a, b, *others = layouts[0]
    swapped = [replace(a, x=b.x, y=b.y), replace(b, x=a.x, y=a.y), *others]
    layouts.insert(1, swapped)
    return [Scene(ground, tuple(layout), group, twin) for twin, layout in enumerate(layouts)]


def _make_scene(rng: np.random.Generator) -> Scene:
    nouns = rng.permutation(len(NOUNS))[: rng.integers(4, 6)]
    things = [_make_thing(NOUNS[noun], rng) for noun in nouns]
    return Scene(_any_of(BACKGROUNDS, rng), tuple(_lay_out(things, rng)))


def _make_thing(noun: str, rng: np.random.Generator) -> Thing:
    size = _any_of(SIZES, rng)
    extent = round(float(rng.uniform(*_EXTENTS[size])), 4)
    return Thing(noun, _any_of(tuple(COLOURS), rng), size, 0.5, 0.5, extent)


def _lay_out(things: list[Thing], rng: np.random.Generator) -> list[Thing]:
    """Give every thing a place inside the picture where no square covers another."""
    while True:
        placed: list[Thing] = []
        for thing in things:
            for _ in range(20):
                x, y = rng.uniform(thing.extent / 2, 1 - thing.extent / 2, size=2)
                moved = replace(thing, x=round(float(x), 4), y=round(float(y), 4))
                if all(_apart(moved, other) for other in placed):
                    placed.append(moved)
                    break
        if len(placed) == len(things):
            return placed


def _apart(a: Thing, b: Thing) -> bool:
    across, down = abs(a.x - b.x), abs(a.y - b.y)
    beside = max(across, down) >= (a.extent + b.extent) / 2
    return beside and float(np.hypot(across, down)) >= _NEAREST


def _any_of(names: tuple[str, ...], rng: np.random.Generator) -> str:
    return names[int(rng.integers(len(names)))]
