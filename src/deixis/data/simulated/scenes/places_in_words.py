"""Narrations rewritten with every place in words instead of a trace."""

from dataclasses import replace

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.simulated.scenes.captions import noun_phrase
from deixis.data.simulated.scenes.claims import Mention, places_of
from deixis.data.simulated.scenes.place_blind_reader import mentions_of, read_scenes
from deixis.data.simulated.scenes.scene import Scene
from deixis.features.trace.narration import Narration


def narrations_with_places(corpus: Corpus) -> list[Narration]:
    """The same things in the same order, each with a true place word, and no trace.

    A thing that is in none of the named places goes without one.
    """
    scenes = read_scenes(corpus.root)
    return [
        _narration_with_places(text, scenes[corpus.files[owner]], np.random.default_rng(number))
        for number, (text, owner) in enumerate(zip(corpus.texts, corpus.owners, strict=True))
    ]


def _narration_with_places(text: str, scene: Scene, chance: np.random.Generator) -> Narration:
    mentions = [_placed(mention, scene, chance) for mention in mentions_of(text)]
    return Narration(f"In the image there is {', and '.join(map(noun_phrase, mentions))}.")


def _placed(mention: Mention, scene: Scene, chance: np.random.Generator) -> Mention:
    (thing,) = (thing for thing in scene.things if thing.noun == mention.noun)
    places = places_of(thing)
    return replace(mention, place=str(chance.choice(places)) if places else None)
