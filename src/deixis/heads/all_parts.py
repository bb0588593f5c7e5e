"""Heads that keep one part per region or word: what cross-attention needs."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Embedding


class AllParts(nn.Module):
    """Every region or word is a part, its length unchanged (CAMP)."""

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Pass the places on."""
        return Embedding(places, mask)


class UnitParts(nn.Module):
    """Every region or word is a part of unit length (SCAN, BFAN)."""

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Scale the places to length one; padding may hold zeros, which stay zeros."""
        return Embedding(l2_normalise(places), mask)
