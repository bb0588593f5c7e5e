"""Miners: a mask over the negatives that count.

A miner chooses by a query's scores which of its negatives the loss uses. Positives never
count as negatives, wherever they stand: no diagonal is assumed.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@runtime_checkable
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


@dataclass(frozen=True)
class EveryThenHardest:
    """All negatives in the first steps, then only the hardest: VSE∞'s guard against collapse."""

    warmup: int

    def __call__(
        self, scores: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"], step: int
    ) -> Bool[Tensor, "query item"]:
        """Choose by the step."""
        return (every if step < self.warmup else hardest)(scores, positives, step)


@dataclass(frozen=True)
class AnyThenHardest:
    """One arbitrary negative per query for the first steps, then the hardest.

    The next item of the shuffled batch. A classification loss on the hardest negatives from the
    start learns to give every pair the same score: as long as scores are noise, the hardest beat
    the positives, and the surest way to lower them is to make all scores alike.
    """

    warmup: int

    def __call__(
        self, scores: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"], step: int
    ) -> Bool[Tensor, "query item"]:
        """Choose by the step."""
        if step >= self.warmup:
            return hardest(scores, positives, step)
        queries, items = (torch.arange(n, device=scores.device) for n in scores.shape)
        after = (items - queries.unsqueeze(1) - 1) % len(items)
        return hardest(-after.to(scores.dtype), positives, step)
