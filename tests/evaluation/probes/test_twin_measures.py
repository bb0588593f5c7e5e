from dataclasses import replace

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.probes.twin_measures import right_twin, swap_binding, twin_measures
from deixis.features.trace.narration import Narration
from made import made_dataset


def one_group() -> Corpus:
    """Four twins and a fifth image outside, one text each."""
    corpus = made_dataset(images=5, texts_per_image=1).corpus
    return replace(corpus, twins=np.array([[0, 0], [0, 1], [0, 2], [0, 3], [-1, -1]]))


def test_a_perfect_scorer_binds_and_finds_the_right_twin():
    assert swap_binding(np.eye(5), one_group()).tolist() == [True, True]
    assert right_twin(np.eye(5), one_group()).all()


def test_only_the_swapped_twin_counts_for_binding():
    scores = np.eye(5)
    scores[2, 0] = 2.0  # another layout beats the target of text 0
    scores[0, 1] = 2.0  # the swapped twin beats the target of text 1
    assert swap_binding(scores, one_group()).tolist() == [True, False]
    assert right_twin(scores, one_group()).tolist() == [False, False, True, True]


def test_a_scorer_blind_to_places_ties_and_ties_count_against_it():
    assert not swap_binding(np.ones((5, 5)), one_group()).any()
    assert not right_twin(np.ones((5, 5)), one_group()).any()


def test_an_image_outside_groups_asks_nothing():
    scores = np.eye(5)
    scores[4, 4] = -1.0
    assert right_twin(scores, one_group()).tolist() == [True] * 4


def test_a_group_with_a_missing_twin_asks_nothing():
    corpus = made_dataset(images=7, texts_per_image=1).corpus
    twins = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [-1, -1]])
    assert len(right_twin(np.eye(7), replace(corpus, twins=twins))) == 4


def test_a_split_none_of_whose_images_has_a_twin_has_no_such_measures():
    corpus = one_group()
    narrations = {text: Narration("x", (), ()) for text in range(len(corpus.texts))}
    alone = replace(corpus, twins=np.full((len(corpus.files), 2), -1), narrations=narrations)
    assert twin_measures(np.eye(len(corpus.files)), alone) == {}


def test_a_corpus_without_twins_is_refused():
    with pytest.raises(EvaluationError, match="no twin groups"):
        swap_binding(np.eye(2), made_dataset(images=2, texts_per_image=1).corpus)
