import numpy as np

from deixis.features.narrated import narrated_tokens
from deixis.features.narration import Narration, Point, TimedWord
from deixis.features.words import Vocabulary


def red_boat(*strokes: tuple[Point, ...]) -> Narration:
    words = (TimedWord("red", 0.0, 0.5), TimedWord("boat", 0.5, 1.5))
    return Narration("red boat", words, strokes)


STROKE = (Point(0.1, 0.1, 0.1), Point(0.2, 0.3, 0.3), Point(0.7, 0.8, 0.9), Point(0.9, 0.9, 1.4))
VOCABULARY = Vocabulary.count(["red boat"])


def test_tokens_carry_times_and_both_cuts_of_the_trace():
    tokens = narrated_tokens([red_boat(STROKE)], VOCABULARY)
    assert tokens.times is not None
    assert tokens.times.tolist() == [[0, 0], [0, 0.5], [0.5, 1.5], [1.5, 1.5]]
    trace = tokens.trace
    assert trace is not None
    assert trace.word.tolist() == [-1, -1, -1, 1, 2]
    assert np.allclose(trace.boxes[3], [0.1, 0.2, 0.1, 0.3, 0.02])
    assert np.allclose(trace.boxes[4], [0.7, 0.9, 0.8, 0.9, 0.02])


def test_texts_without_a_trace_have_words_and_times_but_no_boxes():
    tokens = narrated_tokens([red_boat(), red_boat(STROKE), Narration("boat")], VOCABULARY)
    assert tokens.trace is not None
    assert tokens.trace.offsets.tolist() == [0, 0, 5, 5]
    assert tokens.times is not None
    assert len(tokens.times) == len(tokens.ids)


def test_a_coarser_window_gives_fewer_boxes():
    tokens = narrated_tokens([red_boat(STROKE)], VOCABULARY, window=1.0)
    assert tokens.trace is not None
    assert (tokens.trace.word < 0).sum() == 2
