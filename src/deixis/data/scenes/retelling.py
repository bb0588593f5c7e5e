"""Narrations told again with every place put into words: where without any pointing."""

from dataclasses import replace

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.scenes.claims import Mention, places_of
from deixis.data.scenes.oracle import mentions_of, read_scenes
from deixis.data.scenes.scene import Scene
from deixis.data.scenes.wording import say
from deixis.features.narration import Narration


def told_with_places(corpus: Corpus) -> list[Narration]:
    """The same things in the same order, each with a true place word, and no trace.

    A thing that is in none of the named places goes without one.
    """
    scenes = read_scenes(corpus.root)
    return [
        _told(text, scenes[corpus.files[owner]], np.random.default_rng(number))
        for number, (text, owner) in enumerate(zip(corpus.texts, corpus.owners, strict=True))
    ]


def _told(text: str, scene: Scene, chance: np.random.Generator) -> Narration:
    mentions = [_placed(mention, scene, chance) for mention in mentions_of(text)]
    return Narration(f"In the image there is {', and '.join(map(say, mentions))}.")


def _placed(mention: Mention, scene: Scene, chance: np.random.Generator) -> Mention:
    (thing,) = (thing for thing in scene.things if thing.noun == mention.noun)
    places = places_of(thing)
    return replace(mention, place=str(chance.choice(places)) if places else None)
