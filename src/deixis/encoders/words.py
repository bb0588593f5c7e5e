"""Words as learned vectors, unread."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.types import Regions, Tokens


class Words(nn.Module):
    """The learned vector of each word: the places of a text in PVSE and DivE, whose heads read on.

    *Paper*: word vectors start uniform in ±0.1.
    """

    def __init__(self, vocabulary: int, word_dim: int, dropout: float) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, word_dim)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Look every word up."""
        assert isinstance(batch, Tokens)
        return self.dropout(self.embed(batch.ids)), batch.mask
