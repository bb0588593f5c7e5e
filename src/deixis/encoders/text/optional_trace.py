"""Query encoders for queries with and without a trace."""

from collections.abc import Callable

import torch
from jaxtyping import Bool
from torch import Tensor

from deixis.encoders.encoder import Encoder
from deixis.types import Embedding, Regions, Tokens, map_tensors


class OptionalTrace(Encoder):
    """One tower for queries with a trace, one for those without; each fills its own half.

    The images have a half for either (``encoders.image.dual_image``), so one index serves both, and
    learning from traces costs queries without one nothing.
    """

    def __init__(self, traced: Encoder, bare: Encoder) -> None:
        super().__init__(traced.body, traced.head)
        self.bare = bare

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Embed every query by its tower: untraced ones fill the first half."""
        assert isinstance(batch, Tokens)
        traced = batch.has_trace
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


def _rows(batch: Tokens, chosen: Bool[Tensor, " text"]) -> Tokens:
    return map_tensors(batch, lambda tensor: tensor[chosen])
