import numpy as np
import pytest
import torch

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.text.gru import GRU, init_word_vectors
from deixis.encoders.text.word_embedding import WordEmbedding
from deixis.errors import RecipeError
from deixis.features.words.word_vectors import WordVectors
from deixis.heads.pooling import LastPool

VECTORS = WordVectors(np.full((40, 3), 7, np.float32), np.arange(40) >= 30)


@pytest.mark.parametrize("body", [GRU(40, 3, 4, both_ways=True), WordEmbedding(40, 3, 0.1)])
def test_found_words_start_from_others_and_the_rest_normal(body):
    text = Encoder(body, LastPool())
    init_word_vectors(text, VECTORS)
    weight = text.body.embed.weight
    assert (weight[30:] == 7).all()
    assert 0.7 < weight[:30].std().item() < 1.3
    assert weight.requires_grad
    assert isinstance(weight, torch.nn.Parameter)


def test_another_width_names_the_option_that_would_do():
    with pytest.raises(RecipeError, match="set word_dim = 3"):
        init_word_vectors(Encoder(GRU(40, 5, 4, both_ways=False), LastPool()), VECTORS)
    with pytest.raises(RecipeError, match="learns no word vectors"):
        init_word_vectors(Encoder(Projection(5, 4), LastPool()), VECTORS)
