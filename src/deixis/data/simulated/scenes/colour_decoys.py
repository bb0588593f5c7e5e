"""Pictures that differ from a narrated one in a colour that was named, and sprawling traces.

A person who circles most of the canvas while naming one thing may make a model forget what was
said of another. These cases measure it.
"""

from dataclasses import dataclass, replace

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.simulated.scenes.objects import COLOURS
from deixis.data.simulated.scenes.place_blind_reader import mentions_of, read_scenes
from deixis.data.simulated.scenes.scene import Scene
from deixis.data.simulated.scenes.simulated_detector import Detected, detect
from deixis.features.trace.narration import Narration, Point

_REACH = 0.42  # half the side of the circle that sprawls: about 70 % of the canvas
_AFTER = 0.3  # seconds the pointer goes on circling when the thing has been named
_TURNS = 1.3  # a second


@dataclass(frozen=True)
class ColourCase:
    """A narration that names a colour, the same with a sprawling trace, two pictures' regions."""

    narration: Narration
    sprawling: Narration
    picture: Detected
    decoy: Detected  # the thing's colour is another one, all else is equal, noise included


def colour_cases(corpus: Corpus) -> list[ColourCase]:
    """One case for each narration that gives the colour of one thing and names another."""
    scenes = read_scenes(corpus.root)
    cases = []
    for text in corpus.narrations:
        mentions = mentions_of(corpus.texts[text])
        coloured = [mention.noun for mention in mentions if mention.colour]
        if not coloured or len(mentions) < 2:
            continue
        other = next(mention.noun for mention in mentions if mention.noun != coloured[0])
        scene, narration = scenes[corpus.files[corpus.owners[text]]], corpus.narrations[text]
        changed = _recoloured(scene, str(coloured[0]), text)
        pictures = (detect(s, np.random.default_rng(text)) for s in (scene, changed))
        cases.append(ColourCase(narration, _sprawling(narration, str(other)), *pictures))
    return cases


def _recoloured(scene: Scene, noun: str, seed: int) -> Scene:
    chance = np.random.default_rng((seed, 1))
    things = []
    for thing in scene.things:
        others = [colour for colour in COLOURS if colour != thing.colour]
        colour = others[int(chance.integers(len(others)))]
        things.append(replace(thing, colour=colour) if thing.noun == noun else thing)
    return replace(scene, things=tuple(things))


def _sprawling(narration: Narration, noun: str) -> Narration:
    """The narration with a circle over most of the canvas while a thing is named."""
    word = next(word for word in narration.words if word.text.strip(",.").lower() == noun)
    strokes = tuple(
        tuple(_circling(p) if word.start <= p.t <= word.end + _AFTER else p for p in stroke)
        for stroke in narration.strokes
    )
    return replace(narration, strokes=strokes)


def _circling(point: Point) -> Point:
    angle = 2 * np.pi * _TURNS * point.t
    x, y = 0.5 + _REACH * np.cos(angle), 0.5 + _REACH * np.sin(angle)
    return Point(float(x), float(y), point.t)
