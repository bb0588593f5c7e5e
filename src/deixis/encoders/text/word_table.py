"""A learned vector per word."""

from torch import nn

from deixis.errors import RecipeError


class WordTable(nn.Embedding):
    """A word embedding; its own class distinguishes it from embeddings of positions."""

    def __init__(self, vocabulary: int, dim: int) -> None:
        if vocabulary < 1:
            raise RecipeError(
                'this method reads words, and texts = "phrases" gives one vector per phrase; '
                "methods that read such vectors are two_tower and places"
            )
        super().__init__(vocabulary, dim)
