"""Query towers that do without a trace when there is none."""

from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Bool
from torch import Tensor

from deixis.encoders.encoder import Encoder
from deixis.types import Embedding, Regions, Tokens, map_tensors


class ForgetfulTraced(Encoder):
    """Forgets a share of the traces in training, so that a query without one is no surprise."""

    def __init__(self, traced: Encoder, rate: float) -> None:
        super().__init__(traced.body, traced.head)
        self.rate = rate

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Embed every query, some as if nothing had been drawn."""
        assert isinstance(batch, Tokens)
        return super().forward(forget_traces(batch, self.rate) if self.training else batch)


class TracedOrBare(Encoder):
    """One tower for queries with a trace, one for those without; each asks its own half.

    The images have a half for either (``encoders.image_halves``), so one index serves both, and
    what a trace teaches takes nothing from queries without one.
    """

    def __init__(self, traced: Encoder, bare: Encoder) -> None:
        super().__init__(traced.body, traced.head)
        self.bare = bare

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Embed every query by the tower that fits it: bare ones first half, traced ones second."""
        assert isinstance(batch, Tokens)
        traced = has_trace(batch)
        halves: list[Tensor] = []
        towers: tuple[Callable[[Tokens], Embedding], ...] = (self.bare, super().forward)
        for half, (tower, own) in enumerate(zip(towers, (~traced, traced), strict=True)):
            if own.any():
                found = tower(_rows(batch, own)).vectors
                both = found.new_zeros(len(traced), 1, 2, found.shape[-1])
                both[own, :, half] = found
                halves.append(both.flatten(start_dim=2))
        vectors = torch.stack(halves).sum(dim=0)
        return Embedding(vectors, torch.ones_like(vectors[..., 0], dtype=torch.bool))


def has_trace(batch: Tokens) -> Bool[Tensor, " text"]:
    """Which queries have at least one box."""
    if batch.trace is None:
        return torch.zeros(len(batch.ids), dtype=torch.bool, device=batch.ids.device)
    return batch.trace.mask.any(dim=1)


def forget_traces(batch: Tokens, rate: float) -> Tokens:
    """Take whole traces away from a share of the queries."""
    if batch.trace is None or not rate:
        return batch
    kept = torch.rand(len(batch.ids), 1, device=batch.ids.device) >= rate
    return replace(batch, trace=replace(batch.trace, mask=batch.trace.mask & kept))


def _rows(batch: Tokens, chosen: Bool[Tensor, " text"]) -> Tokens:
    return map_tensors(batch, lambda tensor: tensor[chosen])
