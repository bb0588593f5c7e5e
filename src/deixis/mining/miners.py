"""Miners: a mask over the negatives that count.

A miner looks at a query's scores and says which of its negatives the loss may see. Positives never
count as negatives, wherever they stand: no diagonal is assumed.
"""

from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor


class Miner(Protocol):
    """Chooses negatives, row by row."""

    def __call__(
        self, scores: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"], step: int
    ) -> Bool[Tensor, "query item"]:
        """Return which negatives count at a training step."""
        ...


def every(
    scores: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"], step: int
) -> Bool[Tensor, "query item"]:
    """All negatives count (VSE0)."""
    return ~positives


def hardest(
    scores: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"], step: int
) -> Bool[Tensor, "query item"]:
    """Only the best-scored negative of each query counts (VSE++)."""
    best = scores.masked_fill(positives, float("-inf")).argmax(dim=1, keepdim=True)
    chosen = torch.zeros_like(positives).scatter_(1, best, True)
    return chosen & ~positives
