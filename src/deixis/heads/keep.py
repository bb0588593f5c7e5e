"""Heads that keep one part a place: what cross-attention needs."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.unit import unit
from deixis.types import Embedding


class Keep(nn.Module):
    """Every region or word is a part, as long as the body left it (CAMP)."""

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Pass the places on."""
        return Embedding(places, mask)


class KeepUnit(nn.Module):
    """Every region or word is a part of unit length (SCAN, BFAN)."""

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Scale the places to length one; padding may hold zeros, which stay zeros."""
        return Embedding(unit(places), mask)
