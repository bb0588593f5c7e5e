"""Narrations of scenes: timed words, and the trace of a pointer that circles what is named."""

from dataclasses import dataclass

import numpy as np

from deixis.data.simulated.pointer import Visit, circle
from deixis.data.simulated.scenes.captions import noun_phrase
from deixis.data.simulated.scenes.claims import Mention, places_of
from deixis.data.simulated.scenes.scene import Scene, Thing
from deixis.features.trace.narration import Narration, TimedWord

PLACE_WORDS = 0.15  # the probability that a thing's place is said, so that text is not made blind
_COLOUR_WORDS = 0.3

_FILLERS = (
    "in this picture I can see",
    "here we have",
    "okay so this is an image with",
    "in the image there is",
    "looking at this one I find",
)
_CONNECTIVES = ("and then", "and also", "and there is", "then", "and", "besides that")


@dataclass(frozen=True, slots=True)
class NarratedScene:
    """A narration and the things it mentions, in order."""

    narration: Narration
    mentions: tuple[Mention, ...]


def narrate(scene: Scene, rng: np.random.Generator) -> NarratedScene:
    """Narrate the described things in random order while pointing at each.

    Which words are said depends on the things alone, save for the rare place words, so twins get
    the same texts; where the pointer goes depends on the scene alone, never on detected regions.
    """
    things = [scene.described[i] for i in rng.permutation(len(scene.described))]
    mentions = tuple(_mention(thing, rng) for thing in things)
    clock = 0.0
    words: list[TimedWord] = []
    visits: list[Visit] = []
    for place, (thing, mention) in enumerate(zip(things, mentions, strict=True)):
        links = _FILLERS if place == 0 else _CONNECTIVES
        link = links[int(rng.integers(len(links)))]
        words += _speak(link.split(), clock, rng)
        start = words[-1].end
        ending = "." if place == len(things) - 1 else ","
        words += _speak((noun_phrase(mention) + ending).split(), start, rng)
        size = (thing.extent, thing.extent)
        visits.append(Visit((thing.x, thing.y), size, start, words[-1].end))
        clock = words[-1].end + float(rng.uniform(0.2, 0.5))
    words[0] = TimedWord(words[0].text.capitalize(), words[0].start, words[0].end)
    text = " ".join(word.text for word in words)
    return NarratedScene(Narration(text, tuple(words), (circle(visits, rng),)), mentions)


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
