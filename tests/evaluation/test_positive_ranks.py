from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deixis.errors import EvaluationError
from deixis.evaluation.positive_ranks import places, ranks
from deixis.evaluation.qrels import Qrels
from deixis.similarity.blocked import row_strips as strips

GOLDEN = Path(__file__).parents[1] / "golden"


def five_texts_per_image(images: int) -> np.ndarray:
    return np.stack([np.arange(5 * images) // 5, np.arange(5 * images)], axis=1)


@pytest.mark.parametrize("file", ["dive/ranks.npz", "camp/rank_metrics.npz", "aoq/rank_7.npz"])
def test_ranks_equal_the_published_loops(file):
    golden = np.load(GOLDEN / file)
    pairs = five_texts_per_image(len(golden["sims"]))
    i2t = ranks(golden["sims"], Qrels.of_pairs(pairs))
    t2i = ranks(golden["sims"].T, Qrels.of_pairs(pairs[:, ::-1]))
    np.testing.assert_array_equal(i2t - 1, golden["i2t_ranks"])
    np.testing.assert_array_equal(t2i - 1, golden["t2i_ranks"])


def sorted_places(row, positives, ties):
    """The definition: sort the whole row, look the positives up."""
    marked = np.isin(np.arange(len(row)), positives)
    tied_last = marked if ties == "against the system" else np.zeros_like(marked)
    order = np.lexsort((np.arange(len(row)), tied_last, -row))
    return np.flatnonzero(marked[order]) + 1


@st.composite
def judged_scores(draw):
    queries, items = draw(st.integers(1, 6)), draw(st.integers(1, 40))
    levels = draw(st.integers(1, 8))  # few levels, many ties
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = random.integers(0, levels, (queries, items)).astype(np.float32)
    positives = random.random((queries, items)) < draw(st.floats(0.05, 0.95))
    positives[0, 0] = True
    return scores, positives


@given(judged_scores(), st.sampled_from(["against the system", "by index"]), st.booleans())
def test_places_are_those_of_a_full_sort(judged, ties, transposed):
    scores, positives = judged
    qrels = Qrels.of_mask(positives)
    laid = np.ascontiguousarray(scores.T).T if transposed else scores
    placed = places(laid, qrels, ties)
    expected = [
        sorted_places(scores[query], np.flatnonzero(positives[query]), ties)
        for query in qrels.queries
    ]
    np.testing.assert_array_equal(placed.places, np.concatenate(expected))
    np.testing.assert_array_equal(ranks(laid, qrels, ties), [found[0] for found in expected])
    np.testing.assert_array_equal(placed.best, [found[0] for found in expected])


def test_strips_and_tiles_leave_no_seam(monkeypatch):
    random = np.random.default_rng(0)
    scores, positives = random.random((50, 70)), random.random((50, 70)) < 0.1
    whole = places(scores.T, Qrels.of_mask(positives.T)).places
    monkeypatch.setattr(strips, "HEIGHT", 7)
    monkeypatch.setattr(strips, "TILE", 3)
    np.testing.assert_array_equal(places(scores.T, Qrels.of_mask(positives.T)).places, whole)


def test_a_constant_scorer_comes_last():
    positives = np.eye(4, 20, dtype=bool)
    assert ranks(np.zeros((4, 20)), Qrels.of_mask(positives)).tolist() == [20] * 4


def test_infinite_scores_rank_and_half_precision_too():
    scores = np.array([[np.inf, 1.0, -np.inf]], dtype=np.float16)
    assert places(scores, Qrels.of_pairs(np.array([[0, 2], [0, 0]]))).places.tolist() == [1, 3]
    same = np.full((1, 3), -np.inf)
    assert ranks(same, Qrels.of_mask(np.ones((1, 3), dtype=bool))).tolist() == [1]


@pytest.mark.parametrize("turn", [lambda x: x, np.transpose])
def test_nan_is_refused_with_its_place(turn):
    scores = np.zeros((3, 3))
    scores[1, 1] = np.nan
    with pytest.raises(EvaluationError, match="query 1 with item 1 is NaN"):
        ranks(turn(scores), Qrels.of_mask(np.eye(3, dtype=bool)))


def test_a_query_without_positives_is_no_query():
    qrels = Qrels.of_mask(np.array([[False, False], [False, True]]))
    assert qrels.queries.tolist() == [1]
    assert ranks(np.array([[0.0, 1.0], [1.0, 0.0]]), qrels).tolist() == [2]
    with pytest.raises(EvaluationError, match="no query has a matching item"):
        Qrels.of_mask(np.zeros((2, 2), dtype=bool))


def test_a_positive_outside_the_gallery_counts_as_missed():
    ids = np.array([7, 8, 9])
    qrels = Qrels.of_ids({7: [8, 100], 9: [9]}, ids, ids)
    assert qrels.sizes.tolist() == [2, 1]
    assert qrels.items.tolist() == [1, 2]
    with pytest.raises(EvaluationError, match="query 5 is not scored"):
        Qrels.of_ids({5: [8]}, ids, ids)
    with pytest.raises(EvaluationError, match="twice"):
        Qrels.of_ids({7: [8]}, ids, np.array([8, 8]))
