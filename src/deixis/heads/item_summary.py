"""The whole item as one vector, for set heads that add it to every element."""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from deixis.heads.gru_last_state import last_states, state_at_end
from deixis.heads.pooling import MeanPool, SingleVector


@runtime_checkable
class ItemSummary(Protocol):
    """Pools the places of an item into one vector, as ``MaxPool().pool`` does."""

    def __call__(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"], /
    ) -> Float[Tensor, "item dim"]:
        """Return one vector per item."""
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
        return self.dropout(self.linear(MeanPool().pool(places, mask)))


class BiGRUSummary(nn.Module):
    """The last states of a bidirectional GRU over the words.

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
        forward, backward = last_states(self.gru, places, mask.sum(dim=1))
        both = torch.cat([forward, backward], 1) if self.joined else (forward + backward) / 2
        return self.dropout(both)


class LastWordSummary(BiGRUSummary):
    """Both directions at the last word, where the backward one has read that word alone (PVSE)."""

    def forward(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Read each text up to its own length."""
        lengths = mask.sum(dim=1)
        packed = pack_padded_sequence(places, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        return self.dropout(state_at_end(states, lengths))


class PooledSummary(nn.Module):
    """What a head of one vector pools, before it is scaled to length one."""

    def __init__(self, head: SingleVector) -> None:
        super().__init__()
        self.head = head

    def forward(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Pool each item."""
        return self.head.pool(places, mask)
