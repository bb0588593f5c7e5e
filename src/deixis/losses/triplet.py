"""The hinge ranking loss of the field."""

from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor

from deixis.losses.base import Loss
from deixis.mining.miners import Miner
from deixis.types import Outputs


class Triplet(Loss):
    """Every matching pair must beat the mined negatives of both its sides by a margin.

    *Formula*: for a positive (i, t): ``max(0, margin + S(i, t') − S(i, t))`` over mined texts t' of
    image i, plus the same over mined images of text t. ``sum`` adds every hinge up; ``mean``
    divides each direction by its number of hinges.
    *Relations*: with one text an image and the diagonal as positives, ``sum`` with ``every`` is
    VSE0 and with ``hardest`` is VSE++; ``mean`` over all texts of an image is DivE's.
    *Paper*: VSE++ 2018, equation 6. Texts that share an image are positives, never negatives; the
    published code punishes them.
    """

    def __init__(
        self, margin: float, miner: Miner, reduction: Literal["sum", "mean"] = "sum"
    ) -> None:
        super().__init__()
        self.margin = margin
        self.miner = miner
        self.reduction = reduction

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add both directions up."""
        positives = out.batch.positives
        forth = self._one_way(out.scores, positives, step)
        back = self._one_way(out.scores.T, positives.T, step)
        return forth + back

    def _one_way(
        self, scores: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"], step: int
    ) -> Float[Tensor, ""]:
        negatives = self.miner(scores, positives, step)
        query, item = positives.nonzero(as_tuple=True)
        hinge = (self.margin + scores[query] - scores[query, item].unsqueeze(1)).clamp(min=0)
        counted = negatives[query]
        total = hinge.masked_fill(~counted, 0.0).sum()
        if self.reduction == "sum":
            return total
        return total / counted.sum().clamp(min=1)
