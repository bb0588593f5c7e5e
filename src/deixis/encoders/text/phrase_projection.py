"""A phrase as a vector for maps over cells, with the region that was pointed at."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.errors import RecipeError
from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Regions, Tokens, Trace


class PhraseProjection(nn.Module):
    """A perceptron over the phrase's vector; the cells of its region follow as coordinates.

    The phrase's part has a learned length, which is the sharpness of its maps. The region is the
    share of each cell in what is pointed at; all zeros where nothing is. Several members are
    perceptrons of their own side by side; the map of all is the mean of theirs.
    """

    def __init__(
        self, size: int, hidden: int, dim: int, dropout: float, scale: float, members: int = 1
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.hidden = nn.Linear(size, members * hidden)
        self.gelu = nn.GELU(approximate="tanh")
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(hidden, members * dim)  # rows of the members one after the other
        self.log_scale = nn.Parameter(torch.full((members,), math.log(scale)))

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item 1 wide"], Bool[Tensor, "item 1"]]:
        """Map every phrase and append its region."""
        assert isinstance(batch, Tokens)
        if batch.pooled is None or batch.trace is None:
            raise RecipeError('this encoder reads phrases with places; data.texts = "phrases"')
        hidden = self.dropout(self.gelu(self.hidden(self.norm(batch.pooled))))
        members = len(self.log_scale)
        each = hidden.unflatten(1, (members, -1))
        weight, bias = (value.unflatten(0, (members, -1)) for value in self.out.parameters())
        out = l2_normalise(torch.einsum("imh,mdh->imd", each, weight) + bias)
        vectors = (out * (self.log_scale.exp() / math.sqrt(members))[:, None]).flatten(1)
        wide = torch.cat([vectors, regions_of_trace(batch.trace)], dim=1).unsqueeze(1)
        return wide, torch.ones(wide.shape[0], 1, dtype=torch.bool, device=wide.device)


def regions_of_trace(trace: Trace) -> Float[Tensor, "text 81"]:
    """The share of each cell in the union of a text's boxes: ``pointed_region`` in torch.

    A box without area within the picture points nowhere.
    """
    edges = torch.arange(SIDE + 1, device=trace.boxes.device) / SIDE
    across = _overlap(trace.boxes[..., 0:1], trace.boxes[..., 1:2], edges)
    down = _overlap(trace.boxes[..., 2:3], trace.boxes[..., 3:4], edges)
    covered = (down.unsqueeze(-1) * across.unsqueeze(-2)).flatten(-2) * trace.mask.unsqueeze(-1)
    union = covered.amax(dim=1) if covered.shape[1] else covered.new_zeros(len(covered), CELLS)
    return union / union.sum(dim=1, keepdim=True).clamp(min=1e-9)


def _overlap(
    low: Float[Tensor, "text box 1"],
    high: Float[Tensor, "text box 1"],
    edges: Float[Tensor, " edge"],
) -> Float[Tensor, "text box cell"]:
    return ((torch.minimum(high, edges[1:]) - torch.maximum(low, edges[:-1])) * SIDE).clamp(
        0.0, 1.0
    )
