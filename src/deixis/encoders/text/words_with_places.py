"""Words as two vectors side by side: what they name and where, by words or by pointing."""

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.positions.place_bumps import WIDTH, PlaceBumps
from deixis.encoders.text.words_and_trace import WordsOnly, boxes_of_words
from deixis.types import Regions, Tokens


class WordsWithPlaces(nn.Module):
    """Contextual words, each with a place: from the words and from what was drawn.

    *Formula*: ``[A h; B h + W code(box)]`` with h from the query transformer; a word without a box
    has ``[A h; B h]``. The length of a word says how much it counts.
    """

    reads_traces: ClassVar[bool] = True

    def __init__(self, words: WordsOnly, size: int, dim: int, place_dim: int) -> None:
        super().__init__()
        self.words = words
        self.what, self.said = nn.Linear(size, dim), nn.Linear(size, place_dim)
        self.code, self.drawn = PlaceBumps(), nn.Linear(WIDTH, place_dim)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Read words, then lay their places beside them."""
        assert isinstance(batch, Tokens)
        states, mask = self.words(batch)
        boxes, there = boxes_of_words(batch.trace, mask)
        drawn = self.drawn(self.code(boxes)).masked_fill(~there.unsqueeze(-1), 0.0)
        return torch.cat([self.what(states), self.said(states) + drawn], dim=-1), mask
