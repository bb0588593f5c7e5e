"""Word ids or frozen states through a GRU."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from deixis.encoders.text.word_embedding import WordEmbedding
from deixis.encoders.text.word_table import WordTable
from deixis.errors import RecipeError
from deixis.features.words.word_vectors import WordVectors
from deixis.types import Regions, Tokens


class GRU(nn.Module):
    """Word vectors learned from scratch, read by a one- or two-directional GRU.

    *Formula*: two directions are averaged word by word, so the width is ``dim`` either way.
    *Paper*: word vectors start uniform in ±0.1 (VSE++); the average is SCAN's and VSE∞'s.
    """

    def __init__(
        self, vocabulary: int, word_dim: int, dim: int, *, both_ways: bool, spread: float = 0.1
    ) -> None:
        super().__init__()
        self.embed = WordTable(vocabulary, word_dim)
        nn.init.uniform_(self.embed.weight, -spread, spread)
        self.gru = nn.GRU(word_dim, dim, batch_first=True, bidirectional=both_ways)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Read each text up to its own length; padding is never read."""
        assert isinstance(batch, Tokens)
        lengths = batch.mask.sum(dim=1).cpu()
        packed = pack_padded_sequence(
            self.embed(batch.ids), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = self.gru(packed)
        out, _ = pad_packed_sequence(states, batch_first=True, total_length=batch.ids.shape[1])
        if self.gru.bidirectional:
            forward, backward = torch.chunk(out, 2, dim=2)
            out = (forward + backward) / 2
        return out, batch.mask


def init_word_vectors(text: nn.Module, vectors: WordVectors) -> None:
    """Start a text encoder's word vectors from others'; words without one start normal(0, 1)."""
    body = next(
        (module for module in text.modules() if isinstance(module, GRU | WordEmbedding)), None
    )
    if body is None:
        raise RecipeError("this method learns no word vectors; use data.text = 'words'")
    width = vectors.values.shape[1]
    if width != body.embed.embedding_dim:
        raise RecipeError(f"the word vectors have {width} numbers; set word_dim = {width}")
    found = torch.from_numpy(vectors.found)
    with torch.no_grad():
        nn.init.normal_(body.embed.weight)
        body.embed.weight[found] = torch.from_numpy(vectors.values)[found]
