from pathlib import Path

import numpy as np
import pytest

from deixis.errors import EvaluationError
from deixis.evaluation.graded_measures import micro_f1, ndcg, shared_labels

GOLDEN = np.load(Path(__file__).parents[1] / "golden/aoq/sk_anchor.npz")


@pytest.mark.parametrize("k", [1, 5, 10, 25])
def test_linear_ndcg_equals_scikit_learn(k):
    ours = ndcg(GOLDEN["scores"], GOLDEN["rel"], k).mean()
    assert ours == pytest.approx(float(GOLDEN[f"ndcg_lin_k{k}"]), abs=1e-12)


@pytest.mark.parametrize("k", [5, 25])
def test_exponential_ndcg_equals_scikit_learn(k):
    ours = ndcg(GOLDEN["scores"], GOLDEN["rel"], k, "exponential").mean()
    assert ours == pytest.approx(float(GOLDEN[f"ndcg_exp_k{k}"]), abs=1e-12)


def test_a_gallery_smaller_than_k_is_taken_whole():
    scores, grades = GOLDEN["scores"], GOLDEN["rel"]
    np.testing.assert_array_equal(ndcg(scores, grades, 500), ndcg(scores, grades, 25))


def test_tied_items_stand_worst_first():
    grades = np.array([[3, 0, 1]])
    tied, worst = ndcg(np.zeros((1, 3)), grades, 2), ndcg(np.array([[0.0, 2.0, 1.0]]), grades, 2)
    assert tied == worst
    assert tied[0] < 1


def test_nothing_relevant_scores_zero_and_nan_is_refused():
    assert ndcg(np.ones((1, 3)), np.zeros((1, 3), dtype=int), 2).tolist() == [0.0]
    with pytest.raises(EvaluationError, match="NaN"):
        ndcg(np.full((1, 3), np.nan), np.ones((1, 3), dtype=int), 2)


def test_micro_f1_equals_scikit_learn():
    ours = micro_f1(GOLDEN["y_true"].astype(bool), GOLDEN["y_pred"].astype(bool))
    assert ours == pytest.approx(float(GOLDEN["micro_f1"]), abs=1e-12)
    nothing = np.zeros((2, 2), dtype=bool)
    assert micro_f1(nothing, nothing) == 0.0


def test_grades_count_shared_labels():
    one, other = np.array([[True, True, False]]), np.array([[True, True, True], [False] * 3])
    assert shared_labels(one, other).tolist() == [[2, 0]]


def plain_ndcg(row, grades, k):
    order = np.lexsort((grades, -row))[:k]
    discounts = 1 / np.log2(np.arange(2, k + 2))
    ideal = np.sort(grades)[::-1][:k] @ discounts[: len(grades)]
    return grades[order] @ discounts / ideal if ideal else 0.0


@pytest.mark.parametrize("k", [1, 20, 700, 2999])
@pytest.mark.parametrize("shape", ["random", "tied", "best hidden from the sample"])
def test_sampling_for_a_bar_never_changes_the_measure(shape, k):
    random = np.random.default_rng(0)
    scores = random.random((6, 3000), dtype=np.float32)
    if shape == "tied":
        scores = scores.round(1)
    if shape == "best hidden from the sample":
        scores[:, ::2] += 5  # the sample is every second item: its bar is too high for the rest
    grades = random.integers(0, 4, size=scores.shape)
    wanted = [plain_ndcg(row, own, k) for row, own in zip(scores, grades, strict=True)]
    np.testing.assert_allclose(ndcg(scores, grades, k), wanted, atol=1e-12)
