import numpy as np
import pytest

from deixis.errors import SearchError
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Narration, Point, TimedWord
from deixis.features.trace.typing_log import Edit
from deixis.search.query.encode_queries import (
    NOT_ALIGNED,
    TOO_WIDE,
    EncodedQuery,
    encode_queries,
)
from deixis.search.query.query import Query

STROKE = (Point(0.1, 0.2, 0.0), Point(0.5, 0.5, 1.0))


def test_queries_of_all_kinds_asked_together_are_as_asked_alone(encoder, tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"picture a")
    (tmp_path / "b.jpg").write_bytes(b"bad")
    queries = [
        Query(text="one"),
        Query(image=tmp_path / "b.jpg"),
        Query(text="two", drawing=Drawing((STROKE,))),
        Query(image=tmp_path / "a.jpg"),
        Query(text="three"),
    ]
    together = encode_queries(encoder, queries)
    assert isinstance(together[1], SearchError)
    for query, found in zip(queries, together, strict=True):
        alone = encode_queries(encoder, [query])[0]
        if isinstance(found, EncodedQuery):
            np.testing.assert_array_equal(found.whole, alone.whole)


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_the_weight_mixes_words_alone_with_words_and_trace(encoder, weight):
    (found,) = encode_queries(
        encoder, [Query(text="a dog", drawing=Drawing((STROKE,), weight=weight))]
    )
    (traced,) = encode_queries(
        encoder, [Query(text="a dog", drawing=Drawing((STROKE,), weight=1.0))]
    )
    words = encoder.vector(b"a dog")
    np.testing.assert_allclose(found.text[0], words)
    expected = (1 - weight) * words + weight * traced.whole[0]
    np.testing.assert_allclose(found.whole[0], expected, rtol=1e-5)


def test_a_model_that_reads_no_traces_hears_the_words(encoder):
    encoder.reads_traces = False
    (found,) = encode_queries(encoder, [Query(text="a dog", drawing=Drawing((STROKE,)))])
    assert found.text is None
    np.testing.assert_allclose(found.whole[0], encoder.vector(b"a dog"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"image": "a.jpg", "drawing": Drawing((STROKE,))},
        {"text": "a dog", "drawing": Drawing(links=(Link(0, 1, 0),))},
        {"text": "a dog", "drawing": Drawing((STROKE,), links=(Link(3, 9, 0),))},
        {"text": "a dog", "drawing": Drawing((STROKE,), links=(Link(3, 3, 0),))},
        {"text": "a dog", "drawing": Drawing((STROKE,), links=(Link(1, 2, 0),))},
        {"text": "a dog", "drawing": Drawing(weight=1.5)},
        {"text": "a dog", "drawing": Drawing(((Point(0.1, 0.1, 1e308),),))},
        {"text": "a dog", "drawing": Drawing(((Point(1e9, 0.1, 0.0),),))},
    ],
)
def test_a_trace_that_fits_no_text_is_refused(wrong, tmp_path):
    if "image" in wrong:
        wrong = {**wrong, "image": tmp_path / "a.jpg"}
    with pytest.raises(SearchError):
        Query(**wrong)


TEXT = "a red boat, two dogs and a tree"


def stroke(start: float) -> tuple[Point, ...]:
    return tuple(Point(0.4 + 0.02 * (i % 3), 0.5 + 0.02 * i, start + i / 10) for i in range(6))


def typed(text: str, pace: float) -> tuple[Edit, ...]:
    return tuple(Edit(i * pace, i, inserted=letter) for i, letter in enumerate(text))


def heard(encoder, monkeypatch, query: Query) -> Narration:
    """What the model is given to read for a query."""
    seen: list[Narration] = []
    encode = encoder.encode_narration
    monkeypatch.setattr(
        encoder,
        "encode_narration",
        lambda narrations: (seen.extend(narrations), encode(narrations))[1],
    )
    encode_queries(encoder, [query])
    return seen[0]


def said_during(narration: Narration) -> list[list[str]]:
    """For each stroke the words said while it was drawn."""
    return [
        [w.text for w in narration.words if w.start < own[-1].t - 1e-6 and own[0].t < w.end - 1e-6]
        for own in narration.strokes
    ]


@pytest.mark.parametrize(
    ("known", "phrases"),
    [
        (
            {"strokes": (stroke(2.6), stroke(9.2)), "typing": typed(TEXT, 0.3)},
            [["red", "boat"], ["tree"]],
        ),
        (
            {"strokes": (stroke(60.0), stroke(61.0)), "typing": typed(TEXT, 2.0)},
            [["tree"], ["tree"]],
        ),
        (
            {"strokes": (stroke(50.0), stroke(90.0), stroke(91.0))},
            [["red", "boat"], ["two", "dogs"], ["tree"]],
        ),
        (
            {"strokes": (stroke(0.1),), "links": (Link(27, 31, 0),), "typing": typed(TEXT, 0.3)},
            [["tree"]],
        ),
    ],
    ids=["after each phrase", "after the last phrase", "nothing timed", "linked"],
)
def test_the_model_hears_each_stroke_during_its_phrase(encoder, monkeypatch, known, phrases):
    narration = heard(encoder, monkeypatch, Query(text=TEXT, drawing=Drawing(**known)))
    assert said_during(narration) == phrases


def test_spoken_times_reach_the_model_as_they_are(encoder, monkeypatch):
    words = tuple(TimedWord(w, i / 2, i / 2 + 0.5) for i, w in enumerate(TEXT.split()))
    query = Query(text=TEXT, drawing=Drawing((stroke(1.1),), words))
    narration = heard(encoder, monkeypatch, query)
    assert (narration.words, narration.strokes) == (words, query.drawing.strokes)


def test_a_guess_that_cannot_be_made_is_reported(encoder):
    strokes = tuple(stroke(float(i)) for i in range(8))
    (found,) = encode_queries(encoder, [Query(text=TEXT, drawing=Drawing(strokes))])
    assert found.notes == (NOT_ALIGNED,)


def test_a_trace_over_the_whole_scene_counts_half_and_is_reported(encoder):
    wide = (Point(0.05, 0.05, 0.0), Point(0.95, 0.95, 1.0))
    full, half = (
        encode_queries(encoder, [Query(text="a dog", drawing=Drawing((wide,), weight=weight))])[0]
        for weight in (1.0, 0.5)
    )
    assert full.notes == (TOO_WIDE,)
    words = encoder.vector(b"a dog")
    np.testing.assert_allclose(
        full.whole[0] - words, 2 * (half.whole[0] - words), rtol=1e-4, atol=1e-6
    )
    (small,) = encode_queries(encoder, [Query(text="a dog", drawing=Drawing((stroke(0.0),)))])
    assert small.notes == ()
