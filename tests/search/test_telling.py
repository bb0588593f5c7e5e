import pytest

from deixis.features.narration import Point, TimedWord
from deixis.search.query import Link, Query
from deixis.search.telling import LEAST, narration_of

TEXT = "a red car and a dog"
LATE = (Point(0.1, 0.1, 50.0), Point(0.2, 0.3, 50.5), Point(0.4, 0.2, 52.0))
CLICK = (Point(0.7, 0.7, 1.0),)


def interval(narration, first, last):
    return narration.words[first].start, narration.words[last].end


def test_a_linked_stroke_is_drawn_while_its_phrase_is_said():
    query = Query(text=TEXT, strokes=(LATE, CLICK), links=(Link(0, 9, 0), Link(14, 19, 1)))
    told = narration_of(query)
    assert [word.text for word in told.words] == TEXT.split()
    for stroke, (first, last) in zip(told.strokes, ((0, 2), (4, 5)), strict=True):
        start, end = interval(told, first, last)
        assert end - start >= LEAST - 1e-9
        assert start < stroke[0].t < stroke[-1].t < end
    shares = [(p.t - told.strokes[0][0].t) for p in told.strokes[0]]
    assert shares[1] / shares[2] == pytest.approx(0.25)  # its own speed is kept


def test_words_follow_each_other_without_gaps():
    told = narration_of(Query(text=TEXT, strokes=(LATE,), links=(Link(14, 19, 0),)))
    assert told.words[0].start == 0
    ends = [word.end for word in told.words]
    assert ends[:-1] == [word.start for word in told.words[1:]]


def test_a_click_becomes_a_small_box():
    told = narration_of(Query(text=TEXT, strokes=(CLICK,), links=(Link(14, 19, 0),)))
    xs = [point.x for point in told.strokes[0]]
    assert (min(xs), max(xs)) == (pytest.approx(0.65), pytest.approx(0.75))


def test_without_links_a_narration_is_taken_as_it_was_recorded():
    words = (TimedWord("a red car", 0.0, 1.0),)
    told = narration_of(Query(text=TEXT, strokes=(LATE,), words=words))
    assert (told.words, told.strokes) == (words, (LATE,))
