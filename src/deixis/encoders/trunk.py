"""One trunk under every method: the whole item and its parts, at one width."""

import math
from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.encoders.pooled_vector import PooledVector, perceptron
from deixis.encoders.projection import frozen_states
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Regions, Tokens

SMALL = 0.1  # length of what a part adds before it has learnt anything


class Trunk(nn.Module):
    """Every part of an item, carrying the whole item: what a method reads in place of raw features.

    *Formula*: ``place = unit(f(dropout(LN(whole)))) + W dropout(unit(LN(part)))``, with f the map
    that two towers have on this side and W zero at the start. The same channels are dropped in all
    parts of an item: neighbours see nearly the same and would fill the gap. In training a share of
    the items may lose their whole, so that parts learn to stand alone: beside a whole that was
    trained before them they would only learn by heart what it got wrong. With ``unit`` every place
    is scaled to unit length.
    *Relations*: until W has learnt something, a mean over places is the two-tower model.
    """

    def __init__(
        self,
        part: int,
        whole: int,
        width: int,
        hidden: int,
        dropout: float,
        drop_whole: float,
        *,
        unit: bool = False,
    ) -> None:
        super().__init__()
        self.drop_whole, self.unit = drop_whole, unit
        self.part_norm, self.part = nn.LayerNorm(part), nn.Linear(part, width, bias=False)
        if drop_whole:  # of nothing no direction can be learnt
            nn.init.normal_(self.part.weight, std=SMALL / math.sqrt(width))
        else:
            nn.init.zeros_(self.part.weight)
        self.whole = PooledVector(whole, dropout, perceptron(whole, hidden, width, dropout))
        self.channels = nn.Dropout1d(dropout)

    def forward(self, batch: Regions | Tokens) -> Regions | Tokens:
        """Replace the values of a batch; everything else stays."""
        whole, _ = self.whole(batch)
        parts = l2_normalise(self.part_norm(frozen_states(batch)))
        dropped = self.channels(parts.transpose(1, 2)).transpose(1, 2)
        values: Float[Tensor, "item place width"] = self._kept(whole) + self.part(dropped)
        values = l2_normalise(values) if self.unit else values
        return replace(batch, values=values * batch.mask.unsqueeze(2))

    def _kept(self, whole: Float[Tensor, "item 1 width"]) -> Float[Tensor, "item 1 width"]:
        """Wholes at unit length, some of them dropped in training."""
        unit = l2_normalise(whole)
        if not self.training or not self.drop_whole:
            return unit
        return unit * (torch.rand(len(unit), 1, 1, device=unit.device) >= self.drop_whole)


class OnTrunk(nn.Module):
    """A body that reads what a trunk makes of the features."""

    def __init__(self, trunk: Trunk, body: Body) -> None:
        super().__init__()
        self.trunk, self.body = trunk, body
        self.reads_traces = bool(getattr(body, "reads_traces", False))

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Embed every part."""
        return self.body(self.trunk(batch))
