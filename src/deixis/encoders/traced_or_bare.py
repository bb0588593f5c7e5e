"""A query tower that learns to do without a trace, perhaps by a second tower for it."""

from dataclasses import replace

import torch
from jaxtyping import Bool
from torch import Tensor

from deixis.encoders.encoder import Encoder
from deixis.types import Embedding, Regions, Tokens, map_tensors


class TracedOrBare(Encoder):
    """Forgets a share of the traces in training, so that a query without one is no surprise.

    With a bare tower, queries without a trace are its own. Both towers are trained against the
    same images, so one index serves both.
    """

    def __init__(self, traced: Encoder, bare: Encoder | None, rate: float) -> None:
        super().__init__(traced.body, traced.head)
        self.bare = bare
        self.rate = rate

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Embed every query by the tower that fits it."""
        assert isinstance(batch, Tokens)
        if self.training:
            batch = forget_traces(batch, self.rate)
        traced = has_trace(batch)
        if self.bare is None or traced.all():
            return super().forward(batch)
        if not traced.any():
            return self.bare(replace(batch, trace=None))
        own, other = super().forward(_rows(batch, traced)), self.bare(_rows(batch, ~traced))
        vectors = own.vectors.new_empty(len(traced), *own.vectors.shape[1:])
        vectors[traced], vectors[~traced] = own.vectors, other.vectors
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
