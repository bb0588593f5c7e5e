import numpy as np
import pytest
import torch

from deixis.encoders.encoder import Encoder
from deixis.encoders.gru import GRU, start_words
from deixis.encoders.project import Project
from deixis.encoders.words import Words
from deixis.errors import RecipeError
from deixis.features.vectors import WordVectors
from deixis.heads.pool import Last

VECTORS = WordVectors(np.full((40, 3), 7, np.float32), np.arange(40) >= 30)


@pytest.mark.parametrize("body", [GRU(40, 3, 4, both_ways=True), Words(40, 3, 0.1)])
def test_found_words_start_from_others_and_the_rest_normal(body):
    text = Encoder(body, Last())
    start_words(text, VECTORS)
    weight = text.body.embed.weight
    assert (weight[30:] == 7).all()
    assert 0.7 < weight[:30].std().item() < 1.3
    assert weight.requires_grad
    assert isinstance(weight, torch.nn.Parameter)


def test_another_width_names_the_option_that_would_do():
    with pytest.raises(RecipeError, match="set word_dim = 3"):
        start_words(Encoder(GRU(40, 5, 4, both_ways=False), Last()), VECTORS)
    with pytest.raises(RecipeError, match="learns no word vectors"):
        start_words(Encoder(Project(5, 4), Last()), VECTORS)
