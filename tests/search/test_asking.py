import numpy as np
import pytest

from deixis.errors import SearchError
from deixis.features.alignment import Link
from deixis.features.narration import Point
from deixis.search.asking import Asked, ask
from deixis.search.query import Query

STROKE = (Point(0.1, 0.2, 0.0), Point(0.5, 0.5, 1.0))


def test_queries_of_all_kinds_asked_together_are_as_asked_alone(encoder, tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"picture a")
    (tmp_path / "b.jpg").write_bytes(b"bad")
    queries = [
        Query(text="one"),
        Query(image=tmp_path / "b.jpg"),
        Query(text="two", strokes=(STROKE,)),
        Query(image=tmp_path / "a.jpg"),
        Query(text="three"),
    ]
    together = ask(encoder, queries)
    assert isinstance(together[1], SearchError)
    for query, found in zip(queries, together, strict=True):
        alone = ask(encoder, [query])[0]
        if isinstance(found, Asked):
            np.testing.assert_array_equal(found.whole, alone.whole)


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_the_weight_mixes_words_alone_with_words_and_trace(encoder, weight):
    (found,) = ask(encoder, [Query(text="a dog", strokes=(STROKE,), trace_weight=weight)])
    (traced,) = ask(encoder, [Query(text="a dog", strokes=(STROKE,), trace_weight=1.0)])
    words = encoder.vector(b"a dog")
    np.testing.assert_allclose(found.words[0], words)
    expected = (1 - weight) * words + weight * traced.whole[0]
    np.testing.assert_allclose(found.whole[0], expected, rtol=1e-5)


def test_a_model_that_reads_no_traces_hears_the_words(encoder):
    encoder.reads_traces = False
    (found,) = ask(encoder, [Query(text="a dog", strokes=(STROKE,))])
    assert found.words is None
    np.testing.assert_allclose(found.whole[0], encoder.vector(b"a dog"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"image": "a.jpg", "strokes": (STROKE,)},
        {"text": "a dog", "links": (Link(0, 1, 0),)},
        {"text": "a dog", "strokes": (STROKE,), "links": (Link(3, 9, 0),)},
        {"text": "a dog", "strokes": (STROKE,), "links": (Link(3, 3, 0),)},
        {"text": "a dog", "trace_weight": 1.5},
    ],
)
def test_a_trace_that_fits_no_text_is_refused(wrong, tmp_path):
    if "image" in wrong:
        wrong = {**wrong, "image": tmp_path / "a.jpg"}
    with pytest.raises(SearchError):
        Query(**wrong)
