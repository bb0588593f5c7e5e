import numpy as np
import pytest

from deixis.features.trace.narration import Narration, TimedWord
from deixis.features.trace.word_times import word_times


def test_a_group_of_words_shares_its_interval_evenly():
    narration = Narration("In this image a dog.", (TimedWord("In this image", 0.0, 1.2),))
    assert word_times(narration)[:3] == pytest.approx(np.array([[0, 0.4], [0.4, 0.8], [0.8, 1.2]]))


def test_punctuation_and_case_do_not_part_a_word_from_its_time():
    words = (TimedWord("the", 1.0, 2.0), TimedWord("dog's", 2.0, 3.0), TimedWord("BOWL", 4.0, 5.0))
    narration = Narration("The Dog's bowl!", words)
    assert word_times(narration).tolist() == [[1, 2], [2, 3], [4, 5]]


def test_a_word_nobody_timed_stands_between_its_neighbours():
    narration = Narration(
        "a very red boat", (TimedWord("a", 0.0, 1.0), TimedWord("red boat", 3.0, 5.0))
    )
    assert word_times(narration)[1].tolist() == [1.5, 2.5]


def test_a_text_without_times_runs_at_an_even_pace():
    assert word_times(Narration("one two")) == pytest.approx(np.array([[0, 0.35], [0.35, 0.7]]))


def test_an_empty_text_has_no_times():
    assert word_times(Narration("")).shape == (0, 2)
