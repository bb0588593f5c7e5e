"""Regions that reason about one another: the relation graph of VSRN."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.project import Project
from deixis.heads.unit import unit
from deixis.types import Regions, Tokens


class Relations(nn.Module):
    """One step of reasoning: each region gathers from all regions by their affinity.

    *Formula*: ``v + BN(W R g(v))`` with ``R = θ(v)ᵀ φ(v) / n``, n the regions of the image; no
    softmax and no activation.
    *Relations*: the norm starts at zero, so a new block is the identity.
    *Paper*: VSRN 2019, equations 2 and 3. Padding neither counts in n nor in the statistics; the
    published code has images of 36 regions only, where nothing is padded.
    """

    def __init__(self, dim: int, width: int) -> None:
        super().__init__()
        self.asks = nn.Linear(dim, width)
        self.answers = nn.Linear(dim, width)
        self.brings = nn.Linear(dim, width)
        self.back = nn.Linear(width, dim)
        self.norm: nn.Module = nn.BatchNorm1d(dim)
        nn.init.zeros_(self.norm.weight)
        nn.init.zeros_(self.norm.bias)

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item place dim"]:
        """Add to each region what it gathered."""
        count = mask.sum(dim=1).clamp(min=1).view(-1, 1, 1)
        affinity = self.asks(places) @ self.answers(places).transpose(1, 2) / count
        affinity = affinity.masked_fill(~mask.unsqueeze(1), 0.0)
        gathered = (affinity @ self.brings(places))[mask]
        added = torch.zeros_like(places)
        added[mask] = self.norm(self.back(gathered))
        return places + added


class RelationGraph(nn.Module):
    """Projected regions through several steps of reasoning, each region of unit length in the end.

    *Paper*: VSRN 2019, section 3.2. The published code scales each feature over the 36 regions,
    which its author called unintended; here each region is scaled over its features. On COCO it
    also scales before the reasoning, on Flickr30K not.
    """

    def __init__(self, size: int, dim: int, *, blocks: int, scale_first: bool) -> None:
        super().__init__()
        self.project = Project(size, dim)
        self.blocks = nn.ModuleList(Relations(dim, dim) for _ in range(blocks))
        self.scale_first = scale_first

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Project, reason, scale."""
        places, mask = self.project(batch)
        places = places.masked_fill(~mask.unsqueeze(2), 0.0)
        if self.scale_first:
            places = self.scale(places)
        for block in self.blocks:
            places = block(places, mask)
        return self.scale(places), mask

    def scale(self, places: Float[Tensor, "item place dim"]) -> Float[Tensor, "item place dim"]:
        """Give every region unit length; padding stays zero."""
        return unit(places)
