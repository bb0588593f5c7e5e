"""The relation graph of VSRN: every region is updated by its relations to all others."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.projection import Projection
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Regions, Tokens

Places = Float[Tensor, "item place dim"]
Affinity = Float[Tensor, "item place place"]


class RelationBlock(nn.Module):
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

    def forward(self, places: Places, mask: Bool[Tensor, "item place"]) -> Places:
        """Add to each region what it gathered."""
        count = mask.sum(dim=1).clamp(min=1).view(-1, 1, 1)
        merged = self.merging_pays(places.shape[0] * places.shape[1])
        affinity = (self._merged_affinity if merged else self._affinity)(places) / count
        affinity = affinity.masked_fill(~mask.unsqueeze(1), 0.0)
        gathered = (self._merged_gathered if merged else self._gathered)(affinity, places, mask)
        added = torch.zeros_like(places)
        added[mask] = self.norm(gathered)
        return places + added

    def merging_pays(self, rows: int) -> bool:
        """Whether two maps in a row, multiplied once per batch, cost less than each on its own.

        No activation stands between them, so the result is the same but for rounding
        (test_vsrn checks values and gradients); a training batch of COCO takes half the products.
        """
        width, dim = self.asks.weight.shape
        return rows * dim + dim * width < 2 * rows * width

    def _affinity(self, places: Places) -> Affinity:
        return self.asks(places) @ self.answers(places).transpose(1, 2)

    def _merged_affinity(self, places: Places) -> Affinity:
        (asks, ask), (answers, answer) = _parts(self.asks), _parts(self.answers)
        turned = places @ (asks.T @ answers) + ask @ answers
        alone = places @ (answer @ asks) + ask @ answer
        return turned @ places.transpose(1, 2) + alone.unsqueeze(2)

    def _gathered(
        self, affinity: Affinity, places: Places, mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "row dim"]:
        return self.back((affinity @ self.brings(places))[mask])

    def _merged_gathered(
        self, affinity: Affinity, places: Places, mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "row dim"]:
        (brings, bring), (back, end) = _parts(self.brings), _parts(self.back)
        values = places @ (back @ brings).T + back @ bring
        return (affinity @ values)[mask] + end


def _parts(linear: nn.Linear) -> tuple[Float[Tensor, "out in"], Float[Tensor, " out"]]:
    return linear.weight, linear.bias


class RelationGraph(nn.Module):
    """Projected regions through several steps of reasoning, each region of unit length in the end.

    *Paper*: VSRN 2019, section 3.2. The published code scales each feature over the 36 regions,
    which its author called unintended; here each region is scaled over its features. On COCO it
    also scales before the reasoning, on Flickr30K not.
    """

    def __init__(self, size: int, dim: int, *, blocks: int, scale_first: bool) -> None:
        super().__init__()
        self.project = Projection(size, dim)
        self.blocks = nn.ModuleList(RelationBlock(dim, dim) for _ in range(blocks))
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
        return l2_normalise(places)


class ScaledOverRegions(RelationGraph):
    """The same, each feature scaled over the regions: what published weights were trained with."""

    def scale(self, places: Float[Tensor, "item place dim"]) -> Float[Tensor, "item place dim"]:
        """Give every feature unit length over the regions of its image; padding counts nothing."""
        return l2_normalise(places.transpose(1, 2)).transpose(1, 2)
