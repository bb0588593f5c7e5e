"""Attention pooling with one learned query."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.types import Embedding


class AttentionPool(nn.Module):
    """One vector per item: its places, weighted by a learned attention; not normalised.

    *Formula*: ``softmax(places · q / √dim)`` over the places that exist, q learned.
    *Paper*: CAMP 2019, supplement equations 1 and 2, the base model.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.question = nn.Linear(dim, 1, bias=False)

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Weigh and add up."""
        logits = self.question(places)[..., 0] / math.sqrt(places.shape[2])
        weights = logits.masked_fill(~mask, float("-inf")).softmax(dim=1).unsqueeze(1)
        kept = places.masked_fill(~mask.unsqueeze(2), 0.0)
        alone = torch.ones(places.shape[0], 1, dtype=torch.bool, device=places.device)
        return Embedding(weights @ kept, alone, places=places)
