"""Narrations of scenes: timed words, and the trace of a pointer that circles what is named."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.scenes.claims import Mention, places_of
from deixis.data.scenes.scene import Scene, Thing
from deixis.data.scenes.wording import say
from deixis.features.narration import Narration, Point, TimedWord

PLACE_WORDS = 0.15  # the probability that a thing's place is said, so that text is not made blind
_COLOUR_WORDS = 0.3
_RATE = 20.0  # samples a second
_TURNS = 1.3  # rounds a second around a thing

_FILLERS = (
    "in this picture I can see",
    "here we have",
    "okay so this is an image with",
    "in the image there is",
    "looking at this one I find",
)
_CONNECTIVES = ("and then", "and also", "and there is", "then", "and", "besides that")


@dataclass(frozen=True, slots=True)
class Told:
    """A narration and what it speaks of, in order of telling."""

    narration: Narration
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class _Visit:
    """The seconds in which the pointer circles a thing."""

    thing: Thing
    start: float
    end: float


def narrate(scene: Scene, rng: np.random.Generator) -> Told:
    """Tell of the described things in random order while pointing at each.

    Which words are said depends on the things alone, save for the rare place words, so twins get
    the same texts; where the pointer goes depends on the scene alone, never on detected regions.
    """
    things = [scene.described[i] for i in rng.permutation(len(scene.described))]
    mentions = tuple(_mention(thing, rng) for thing in things)
    clock = 0.0
    words: list[TimedWord] = []
    visits: list[_Visit] = []
    for place, (thing, mention) in enumerate(zip(things, mentions, strict=True)):
        links = _FILLERS if place == 0 else _CONNECTIVES
        link = links[int(rng.integers(len(links)))]
        words += _speak(link.split(), clock, rng)
        start = words[-1].end
        ending = "." if place == len(things) - 1 else ","
        words += _speak((say(mention) + ending).split(), start, rng)
        visits.append(_Visit(thing, start, words[-1].end))
        clock = words[-1].end + float(rng.uniform(0.2, 0.5))
    words[0] = TimedWord(words[0].text.capitalize(), words[0].start, words[0].end)
    text = " ".join(word.text for word in words)
    return Told(Narration(text, tuple(words), (_point(visits, rng),)), mentions)


def _mention(thing: Thing, rng: np.random.Generator) -> Mention:
    places = places_of(thing)
    says_colour, says_place = rng.random(2) < (_COLOUR_WORDS, PLACE_WORDS)
    place = places[int(rng.integers(len(places)))] if places and says_place else None
    return Mention(thing.noun, thing.colour if says_colour else None, None, place)


def _speak(words: list[str], start: float, rng: np.random.Generator) -> list[TimedWord]:
    seconds = [(0.12 + 0.055 * len(word)) * rng.uniform(0.85, 1.2) for word in words]
    times = start + np.concatenate([[0.0], np.cumsum(seconds)])
    ends = [round(float(time), 3) for time in times]
    return [TimedWord(word, ends[i], ends[i + 1]) for i, word in enumerate(words)]


def _point(visits: list[_Visit], rng: np.random.Generator) -> tuple[Point, ...]:
    """The stroke: wander idly, travel, and circle each thing while it is named and a bit longer.

    Between key frames the middle of the circle and its radius change evenly; a radius of zero is
    plain travel.
    """
    lag = float(rng.normal(0.1, 0.12))
    frames = _wander(visits[0].start + lag, rng)
    for visit in visits:
        x, y = rng.normal((visit.thing.x, visit.thing.y), 0.03)
        wide, high = rng.uniform(0.5, 1.1, size=2) * visit.thing.extent / 2
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
