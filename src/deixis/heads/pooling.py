"""Heads that end in one vector: the mean, the maximum, or the last place."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Embedding


def masked_mean(
    places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
) -> Float[Tensor, "item dim"]:
    """The mean over the places that exist."""
    kept = places.masked_fill(~mask.unsqueeze(2), 0.0)
    return kept.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


class SingleVector(nn.Module, ABC):
    """What the one-vector heads share: pool, scale to unit length, wrap as a set of one."""

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Pool the places of each item into one unit vector."""
        vector = l2_normalise(self.pool(places, mask))
        alone = torch.ones(vector.shape[0], 1, dtype=torch.bool, device=vector.device)
        return Embedding(vector.unsqueeze(1), alone)

    @abstractmethod
    def pool(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Fold the places of each item; what a subclass writes."""


class MeanPool(SingleVector):
    """The mean over the places that exist."""

    def pool(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Average the places under the mask."""
        return masked_mean(places, mask)


class MaxPool(SingleVector):
    """The largest value of each dimension over the places that exist."""

    def pool(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Take the maximum under the mask."""
        return places.masked_fill(~mask.unsqueeze(2), float("-inf")).amax(dim=1)


class LastPool(SingleVector):
    """The last place that exists: a GRU's final state."""

    def pool(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Pick the last place under the mask."""
        last = (mask.sum(dim=1) - 1).clamp(min=0)
        return places[torch.arange(places.shape[0], device=places.device), last]
