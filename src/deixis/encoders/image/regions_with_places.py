"""Regions as two vectors side by side: what they show and where they are."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.image.placed_regions import boxes_of
from deixis.encoders.positions.box_embedding import feed_forward
from deixis.encoders.positions.place_bumps import WIDTH, PlaceBumps
from deixis.types import Regions, Tokens


class RegionsWithPlaces(nn.Module):
    """Each region's feature through an FFN, and the code of its box, side by side.

    *Formula*: ``[FFN(f); W code(box)]``. *Relations*: ``PlacedRegions`` multiplies the two. Side by
    side, a product with a word is the sum of how well the thing fits and how well the place does.
    """

    def __init__(self, size: int, dim: int, place_dim: int, dropout: float) -> None:
        super().__init__()
        self.feature = feed_forward(size, 2 * dim, dim, dropout)
        self.code, self.place = PlaceBumps(), nn.Linear(WIDTH, place_dim)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Embed every region on its own."""
        assert isinstance(batch, Regions)
        where = self.place(self.code(boxes_of(batch)))
        return torch.cat([self.feature(batch.values), where], dim=-1), batch.mask
