"""Human places become narrations that a text + trace model reads."""

from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.data.groundings.grounded_narrations import grounded_narrations
from deixis.data.groundings.groundings import Groundings
from deixis.data.groundings.placed_phrase import GroundedPhrase
from deixis.errors import DataError

TEXT = "A dog runs to a man ."
DOG = GroundedPhrase(0, 5, "1", ("animals",), ((0.0, 0.2, 0.0, 0.2),))
MAN = GroundedPhrase(14, 19, "2", ("people",), ((0.7, 0.8, 0.6, 0.9), (0.8, 1.0, 0.7, 1.0)))


def corpus_of(*texts):
    owners = np.zeros(len(texts), np.int64)
    pairs = np.stack([owners, np.arange(len(texts))], axis=1)
    return Corpus("made", Path(), ("a.jpg",), texts, owners, pairs, ("train",))


def test_a_phrase_s_boxes_are_circled_while_it_is_said():
    found = grounded_narrations(
        corpus_of("nothing here", TEXT), Groundings({("a.jpg", TEXT): (DOG, MAN)})
    )
    assert found.texts == (TEXT,)
    narration = found.narrations[0]
    assert [word.text for word in narration.words][:3] == ["a", "dog", "runs"]
    (stroke,) = narration.strokes
    at = {word.text: (word.start, word.end) for word in narration.words}
    for word, x, y in (("dog", 0.1, 0.1), ("man", 0.85, 0.8)):
        start, end = at[word]
        seen = np.array([(p.x, p.y) for p in stroke if start + 0.1 <= p.t <= end])
        assert len(seen) and np.abs(seen.mean(axis=0) - (x, y)).max() < 0.2


def test_the_hand_is_the_same_every_time():
    groundings = Groundings({("a.jpg", TEXT): (DOG, MAN)})
    first, second = (grounded_narrations(corpus_of(TEXT), groundings) for _ in range(2))
    assert first.narrations == second.narrations


def test_a_corpus_without_boxes_is_refused():
    with pytest.raises(DataError, match="no text with a boxed phrase"):
        grounded_narrations(corpus_of(TEXT), Groundings({}))
