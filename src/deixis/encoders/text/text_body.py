"""The text encoder of word-level methods, for either kind of text features."""

from deixis.encoders.encoder import Body
from deixis.encoders.projection import Projection
from deixis.encoders.text.gru import GRU
from deixis.types import Sizes


def text_body(sizes: Sizes, word_dim: int, dim: int, spread: float = 0.1) -> Body:
    """Words through a two-way GRU, or frozen token states, projected."""
    if sizes.token:
        return Projection(sizes.token, dim)
    return GRU(sizes.vocabulary, word_dim, dim, both_ways=True, spread=spread)
