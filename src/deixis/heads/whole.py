"""The whole item as one vector, for set heads that add it to every element."""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.ends import ends
from deixis.heads.pool import Mean


@runtime_checkable
class Whole(Protocol):
    """Folds the places of an item into one vector; ``Max().pool`` and ``Mean().pool`` do."""

    def __call__(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"], /
    ) -> Float[Tensor, "item dim"]:
        """Return one vector an item."""
        ...


class ProjectedMean(nn.Module):
    """The mean of raw places, projected into the joint space: the image side of PVSE."""

    def __init__(self, size: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(size, dim)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Average under the mask, then project."""
        return self.dropout(self.linear(Mean().pool(places, mask)))


class ReadThrough(nn.Module):
    """Where a GRU ends that reads the words both ways.

    *Formula*: the forward state at the last word and the backward state at the first; ``mean``
    averages two states of width ``dim`` (DivE), ``joined`` puts two of half the width side by side
    (PVSE).
    """

    def __init__(self, size: int, dim: int, dropout: float, *, joined: bool = False) -> None:
        super().__init__()
        width = dim // 2 if joined else dim
        self.gru = nn.GRU(size, width, batch_first=True, bidirectional=True)
        self.joined = joined
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Read each text up to its own length."""
        forward, backward = ends(self.gru, places, mask.sum(dim=1))
        both = torch.cat([forward, backward], 1) if self.joined else (forward + backward) / 2
        return self.dropout(both)
