"""What reads a text word by word, whichever features it comes with."""

from deixis.encoders.encoder import Body
from deixis.encoders.gru import GRU
from deixis.encoders.project import Project
from deixis.methods.model import Sizes


def text_front(sizes: Sizes, word_dim: int, dim: int, spread: float = 0.1) -> Body:
    """Words through a two-way GRU, or frozen token states, projected."""
    if sizes.token:
        return Project(sizes.token, dim)
    return GRU(sizes.vocabulary, word_dim, dim, both_ways=True, spread=spread)
