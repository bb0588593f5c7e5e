"""Word-embedding lookup, no recurrence."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.text.word_table import WordTable
from deixis.types import Regions, Tokens


class WordEmbedding(nn.Module):
    """The learned vector of each word: the text side of PVSE and DivE, whose heads attend to it.

    *Paper*: word vectors start uniform in ±0.1.
    """

    def __init__(self, vocabulary: int, word_dim: int, dropout: float) -> None:
        super().__init__()
        self.embed = WordTable(vocabulary, word_dim)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Look every word up."""
        assert isinstance(batch, Tokens)
        return self.dropout(self.embed(batch.ids)), batch.mask
