from itertools import product

import numpy as np
import pytest

from deixis.errors import DataError
from deixis.features.trace.alignment import align, match
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Point, TimedWord
from deixis.features.trace.phrases import phrases_of
from deixis.features.trace.typing_log import Edit, typed_times

TEXT = "a red boat, two dogs and a tree"


def stroke(start: float, x: float = 0.5) -> tuple[Point, ...]:
    return tuple(Point(x, 0.5, start + i / 10) for i in range(6))


def typed(text: str, start: float = 0.0, pace: float = 0.1) -> tuple[Edit, ...]:
    return tuple(Edit(start + i * pace, i, inserted=letter) for i, letter in enumerate(text))


def phrases(text: str, links: tuple[Link, ...]) -> list[tuple[str, int]]:
    return [(text[link.start : link.end], link.stroke) for link in links]


def test_a_text_is_cut_where_things_are_named():
    words = TEXT.replace(",", "").split()
    chunks = [" ".join(words[c.first : c.last]) for c in phrases_of(TEXT)]
    assert chunks == ["red boat", "two dogs", "tree"]


def test_a_long_pause_cuts_a_text_too():
    assert len(phrases_of("red boat blue car")) == 1
    assert (
        len(phrases_of("red boat blue car", [(0.0, 0.3), (0.5, 0.9), (3.0, 3.2), (3.5, 3.8)])) == 2
    )


def test_a_word_written_again_has_its_later_time():
    edits = (*typed("red boot"), Edit(5.0, 8, removed=2), Edit(6.0, 6, inserted="at"))
    assert typed_times("red boat", edits) == [(0.0, 0.2), (0.4, 6.0)]


def test_a_long_word_slowly_written_is_no_pause():
    text = "blue refrigerator"
    times = typed_times(text, typed(text, pace=0.3))
    assert times is not None
    assert len(phrases_of(text, times)) == 1


def test_a_log_of_another_text_is_not_believed():
    assert typed_times("red boat", typed("red goat")) is None
    assert typed_times("red", (Edit(0.0, 9, inserted="red"),)) is None


def test_strokes_drawn_after_each_phrase_find_it_however_slow_the_typing():
    first = typed("a red boat, ")
    rest = tuple(Edit(e.time + 30, e.caret, 0, e.inserted) for e in typed(TEXT)[12:])
    drawing = Drawing((stroke(2.0), stroke(34.5)), typing=(*first, *rest))
    aligned = align(TEXT, drawing)
    assert aligned.how == "typed"
    assert phrases(TEXT, aligned.links) == [("red boat", 0), ("tree", 1)]


def test_the_model_sees_speech_and_strokes_inside_their_phrase():
    drawing = Drawing((stroke(2.8), stroke(9.2)), typing=typed(TEXT, pace=0.3))
    narration = align(TEXT, drawing).narration
    words = {word.text: word for word in narration.words}
    assert len(words) == 7  # of eight words one is said twice
    assert narration.strokes[0][0].t == pytest.approx(words["red"].start)
    assert narration.strokes[0][-1].t == pytest.approx(words["boat"].end)
    assert words["boat"].end - words["red"].start >= 0.8 - 1e-9
    assert words["tree"].end - words["tree"].start >= 0.8 - 1e-9
    assert words["two"].end - words["two"].start == pytest.approx(0.35)


def test_a_link_beats_the_clock():
    start = TEXT.index("tree")
    link = Link(start, start + 4, stroke=0)
    aligned = align(TEXT, Drawing((stroke(1.0),), links=(link,), typing=typed(TEXT)))
    assert aligned.how == "linked"
    assert phrases(TEXT, aligned.links) == [("tree", 0)]


def test_strokes_beside_a_link_are_still_guessed_from_the_other_phrases():
    start = TEXT.index("tree")
    link = Link(start, start + 4, stroke=1)
    aligned = align(TEXT, Drawing((stroke(0.5), stroke(2.0)), links=(link,), typing=typed(TEXT)))
    assert phrases(TEXT, aligned.links) == [("red boat", 0), ("tree", 1)]


def test_spoken_words_and_strokes_stay_as_they_were_recorded():
    words = (TimedWord("a red boat", 0.0, 1.0),)
    aligned = align("a red boat", Drawing((stroke(0.2),), words=words))
    assert (aligned.how, aligned.narration.words) == ("spoken", words)
    assert aligned.narration.strokes == (stroke(0.2),)


def test_without_any_times_strokes_follow_the_order_of_phrases():
    aligned = align(TEXT, Drawing((stroke(0.0), stroke(9.0), stroke(10.0))))
    assert aligned.how == "in order"
    assert phrases(TEXT, aligned.links) == [("red boat", 0), ("two dogs", 1), ("tree", 2)]


@pytest.mark.parametrize("count", [1, 7])
def test_counts_that_differ_too_much_are_not_aligned(count):
    strokes = tuple(stroke(float(i)) for i in range(count))
    aligned = align(TEXT, Drawing(strokes))
    assert aligned.how == "not aligned"
    assert (aligned.links, aligned.narration.strokes) == ((), strokes)


def test_two_strokes_for_one_phrase_share_its_time_in_turn():
    aligned = align("a red boat", Drawing((stroke(0.0, 0.1), stroke(1.0, 0.9))))
    first, second = aligned.narration.strokes
    assert (first[0].x, second[0].x) == (0.1, 0.9)
    assert first[-1].t <= second[0].t + 1e-9


def test_a_link_to_no_word_is_refused():
    with pytest.raises(DataError, match="characters 1 to 1"):
        align("a red boat", Drawing((stroke(0.0),), links=(Link(1, 1, 0),)))


def test_the_cheapest_pairs_keep_both_orders():
    costs = np.array([[0.0, 3.0, 3.0], [3.0, 3.0, 0.1], [3.0, 0.0, 3.0]])
    assert match(costs) == [(0, 0), (2, 1)]


def test_matching_agrees_with_trying_everything():
    random = np.random.default_rng(0)
    for _ in range(30):
        costs = random.uniform(0, 1.5, size=tuple(random.integers(1, 4, size=2)))
        assert _price(costs, match(costs)) == pytest.approx(_cheapest(costs))


def _price(costs: np.ndarray, pairs: list[tuple[int, int]]) -> float:
    skipped = costs.shape[0] - len(pairs) + costs.shape[1] - len({chunk for _, chunk in pairs})
    return sum(costs[pair] for pair in pairs) + 0.5 * skipped


def _cheapest(costs: np.ndarray) -> float:
    options = product(range(-1, costs.shape[1]), repeat=costs.shape[0])
    pairs = [[(i, j) for i, j in enumerate(option) if j >= 0] for option in options]
    return min(_price(costs, p) for p in pairs if [j for _, j in p] == sorted(j for _, j in p))
