"""What is read of a phrase: inside its text and alone."""

import numpy as np
import pytest

from deixis.errors import DataError
from deixis.features.backbones.minilm import MiniLM
from deixis.features.places.phrase_inputs import phrase_inputs

TEXT = "a black dog beside a man"


def test_a_phrase_is_read_inside_its_text_and_alone():
    backbone = MiniLM()
    inputs = phrase_inputs([TEXT, "a dog"], [[(0, 11), (19, 24)], [(0, 5)]], backbone)
    assert inputs.shape == (3, 768)
    assert np.allclose(inputs[0, 384:], backbone(["a black dog"]).pooled[0], atol=1e-5)
    assert np.allclose(np.linalg.norm(inputs[:, :384], axis=1), 1, atol=1e-5)
    states = backbone([TEXT]).values[1:4].mean(axis=0)
    assert np.allclose(inputs[0, :384], states / np.linalg.norm(states), atol=1e-5)


def test_characters_without_a_word_are_refused():
    with pytest.raises(DataError, match="reads no word"):
        phrase_inputs([TEXT], [[(1, 2)]], MiniLM())
