import numpy as np

from deixis.features.store.packed import PackedTokens, offsets_of
from deixis.features.trace.narrated_tokens import narrated_pieces, narrated_tokens
from deixis.features.trace.narration import Narration, Point, TimedWord
from deixis.features.words.vocabulary import Vocabulary


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


def test_word_pieces_carry_the_times_and_boxes_of_their_words():
    ids = np.arange(5)  # [start] red bo ##at [end]
    pieces = PackedTokens(ids, offsets_of([5]), np.ones((5, 4), np.float32))
    spans = [[(0, 0), (0, 3), (4, 6), (6, 8), (0, 0)]]
    found = narrated_pieces([red_boat(STROKE)], pieces, spans)
    assert found.times is not None and found.trace is not None
    assert found.times.tolist() == [[0, 0], [0, 0.5], [0.5, 1.5], [0.5, 1.5], [1.5, 1.5]]
    assert found.trace.word.tolist() == [-1, -1, -1, 1, 2, 3]
    assert np.allclose(found.trace.boxes[4], found.trace.boxes[5])
    assert np.allclose(found.trace.boxes[4], [0.7, 0.9, 0.8, 0.9, 0.02])
    assert found.values is pieces.values
