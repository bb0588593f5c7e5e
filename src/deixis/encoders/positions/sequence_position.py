"""Position codes of a sequence: by place or by time."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from deixis.features.trace.word_times import PACE

_LONGEST = 256  # places with a vector of their own; later ones share the last
_SMALL = 0.05  # small at first: a position must not dominate its word
_PERIODS = (0.5, 128.0)  # seconds of the fastest and the slowest wave


class IndexPosition(nn.Module):
    """A learned vector for every place; each stream has its own table.

    *Paper*: text + trace 2021: both word and box embedders have a position embedding.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.table = nn.Embedding(_LONGEST, dim)
        nn.init.normal_(self.table.weight, std=_SMALL)

    def forward(self, times: Float[Tensor, "item place 2"]) -> Float[Tensor, "#item place dim"]:
        """One vector per place, whatever its time."""
        places = torch.arange(times.shape[1], device=times.device).clamp(max=_LONGEST - 1)
        vectors: Tensor = self.table(places)
        return vectors.unsqueeze(0)


class TimePosition(nn.Module):
    """Sines and cosines of the seconds: a word and the box drawn meanwhile get near-equal codes.

    *Paper*: ours; the paper leaves the alignment of words and boxes to be found.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.scale = nn.Parameter(torch.tensor(_SMALL))

    def forward(self, times: Float[Tensor, "item place 2"]) -> Float[Tensor, "item place dim"]:
        """One code per place, of the middle of its interval."""
        shortest, longest = _PERIODS
        share = torch.linspace(0, 1, (self.dim + 1) // 2, device=times.device)
        waves = 2 * math.pi / (shortest * (longest / shortest) ** share)
        angles = times.mean(dim=-1, keepdim=True) * waves
        return self.scale * torch.cat([angles.sin(), angles.cos()], dim=-1)[..., : self.dim]


def evenly_paced_times(places: int, like: Tensor) -> Float[Tensor, "1 place 2"]:
    """Times for words without any: one after another at an even pace."""
    starts = PACE * torch.arange(places, dtype=torch.float32, device=like.device)
    return torch.stack([starts, starts + PACE], dim=-1).unsqueeze(0)
