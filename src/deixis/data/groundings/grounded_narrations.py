"""Captions with human places as narrations: a simulated hand circles what people drew boxes for."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.groundings.groundings import GroundedText, Groundings
from deixis.data.groundings.placed_phrase import EdgeBox
from deixis.data.simulated.pointer import Visit, circle
from deixis.errors import DataError
from deixis.features.trace.narration import Narration, TimedWord
from deixis.features.trace.word_times import PACE
from deixis.features.words.vocabulary import split_words


def grounded_narrations(corpus: Corpus, groundings: Groundings) -> Corpus:
    """The captions with a boxed phrase, each spoken at an even pace while its boxes are circled.

    The places are people's, the hand is simulated, and the same every time: nobody recorded a
    pointer, and whatever is measured with these traces says so.
    """
    phrases = [
        tuple(phrase for phrase in found or () if phrase.boxes)
        for found in groundings.of_corpus(corpus)
    ]
    kept = np.array([bool(own) for own in phrases])
    if not kept.any():
        raise DataError(f"corpus '{corpus.name}' has no text with a boxed phrase")
    placed = corpus.keep(texts=kept)
    grounded = [own for own in phrases if own]
    narrations = {
        place: _narration(text, own, np.random.default_rng(place))
        for place, (text, own) in enumerate(zip(placed.texts, grounded, strict=True))
    }
    return replace(placed, narrations=narrations)


def _narration(text: str, phrases: GroundedText, random: np.random.Generator) -> Narration:
    words = split_words(text)
    timed = tuple(TimedWord(w, i * PACE, (i + 1) * PACE) for i, w in enumerate(words))
    visits = []
    for phrase in phrases:
        first = len(split_words(text[: phrase.start]))
        said = max(1, len(split_words(text[phrase.start : phrase.end])))
        xmin, xmax, ymin, ymax = _around(phrase.boxes)
        middle, size = ((xmin + xmax) / 2, (ymin + ymax) / 2), (xmax - xmin, ymax - ymin)
        visits.append(Visit(middle, size, first * PACE, (first + said) * PACE))
    return Narration(text, timed, (circle(visits, random),))


def _around(boxes: Sequence[EdgeBox]) -> EdgeBox:
    """The box around all boxes of a thing, as a hand would circle them together."""
    edges = np.array(boxes, dtype=np.float64)
    xmin, ymin = edges[:, 0].min(), edges[:, 2].min()
    return float(xmin), float(edges[:, 1].max()), float(ymin), float(edges[:, 3].max())
