"""Why a hit is wrong, as far as labels show."""

import numpy as np
import pytest

from deixis.errors import EvaluationError
from deixis.pages.label_errors import (
    CONFUSION,
    KINSHIP,
    HitErrors,
    LabelledSide,
    related_labels,
    worst,
)

NAMES = ("man", "boy", "dog")


def side(true, predicted=None):
    true = np.array(true, dtype=bool)
    return LabelledSide(true, true if predicted is None else np.array(predicted, dtype=bool))


def test_labels_above_one_half_are_predicted_or_else_the_likeliest():
    logits = np.array([[1.0, -1, 2], [-3.0, -1, -2]])
    predicted = LabelledSide.of(np.zeros((2, 3), dtype=bool), logits).predicted
    assert predicted.tolist() == [[True, False, True], [False, True, False]]


def test_a_hit_that_shares_a_label_is_no_error_whatever_was_predicted():
    errors = HitErrors(related_labels(["man|boy"], NAMES))
    query, items = side([[1, 0, 1]]), side([[0, 0, 1]], [[1, 1, 0]])
    assert errors.kinds(query, 0, items, 0) == []


def test_what_is_predicted_for_both_and_true_of_one_is_semantic_confusion():
    errors = HitErrors(related_labels([], NAMES))
    query, items = side([[0, 0, 1]]), side([[1, 0, 0]], [[1, 0, 1]])
    assert errors.kinds(query, 0, items, 0) == [CONFUSION]


def test_labels_of_one_super_class_are_named_so():
    errors = HitErrors(related_labels(["man|boy"], NAMES))
    query, items = side([[1, 0, 0]]), side([[0, 1, 0]])
    assert errors.kinds(query, 0, items, 0) == [KINSHIP]


def test_an_error_of_which_labels_say_nothing_has_no_name():
    errors = HitErrors(related_labels(["man|boy"], NAMES))
    assert errors.kinds(side([[1, 0, 0]]), 0, side([[0, 0, 1]]), 0) == []


def test_queries_come_by_how_many_of_their_first_hits_are_wrong():
    queries = side([[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0]])
    items = side([[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    scores = np.array([[3.0, 2, 1], [3.0, 2, 1], [3.0, 2, 1], [1.0, 2, 3]])
    chosen, best = worst(scores, queries, items, 2)
    assert chosen == [1, 3]  # the first is right, the third has no labels to be wrong by
    assert best[3].tolist() == [2, 1]


def test_a_super_class_of_an_unknown_label_is_refused():
    with pytest.raises(EvaluationError, match="'cat' is not a label of the corpus; it has: man"):
        related_labels(["man|cat"], NAMES)
