"""Why a hit is wrong, as far as labels tell."""

import numpy as np
import pytest

from deixis.errors import EvaluationError
from deixis.recipes.failures import CONFUSION, KINSHIP, Judge, Side, kin_of, worst

NAMES = ("man", "boy", "dog")


def side(true, told=None):
    true = np.array(true, dtype=bool)
    return Side(true, true if told is None else np.array(told, dtype=bool))


def test_an_item_tells_what_is_above_one_half_or_else_the_likeliest():
    told = Side.of(np.zeros((2, 3), dtype=bool), np.array([[1.0, -1, 2], [-3.0, -1, -2]])).told
    assert told.tolist() == [[True, False, True], [False, True, False]]


def test_a_hit_that_shares_a_label_is_no_error_whatever_was_told():
    judge = Judge(kin_of(["man|boy"], NAMES))
    query, items = side([[1, 0, 1]]), side([[0, 0, 1]], [[1, 1, 0]])
    assert judge.kinds(query, 0, items, 0) == []


def test_what_is_told_of_both_and_true_of_one_is_semantic_confusion():
    judge = Judge(kin_of([], NAMES))
    query, items = side([[0, 0, 1]]), side([[1, 0, 0]], [[1, 0, 1]])
    assert judge.kinds(query, 0, items, 0) == [CONFUSION]


def test_labels_of_one_super_class_are_named_so():
    judge = Judge(kin_of(["man|boy"], NAMES))
    query, items = side([[1, 0, 0]]), side([[0, 1, 0]])
    assert judge.kinds(query, 0, items, 0) == [KINSHIP]


def test_an_error_of_which_labels_say_nothing_has_no_name():
    judge = Judge(kin_of(["man|boy"], NAMES))
    assert judge.kinds(side([[1, 0, 0]]), 0, side([[0, 0, 1]]), 0) == []


def test_queries_come_by_how_many_of_their_first_hits_are_wrong():
    queries = side([[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0]])
    items = side([[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    scores = np.array([[3.0, 2, 1], [3.0, 2, 1], [3.0, 2, 1], [1.0, 2, 3]])
    chosen, best = worst(scores, queries, items, 2)
    assert chosen == [1, 3]  # the first is right, the third has no labels to be wrong by
    assert best[3].tolist() == [2, 1]


def test_a_super_class_of_an_unknown_label_is_refused():
    with pytest.raises(EvaluationError, match="'cat' is no label of the corpus; it has: man"):
        kin_of(["man|cat"], NAMES)
