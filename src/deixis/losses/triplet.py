"""The triplet loss: a hinge over positives and mined negatives."""

from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor

from deixis.losses.miners import Miner, hardest
from deixis.losses.objective import ScoreLoss


class Triplet(ScoreLoss):
    """Every matching pair must beat the mined negatives of both its sides by a margin.

    *Formula*: for a positive (i, t): ``max(0, margin + S(i, t') − S(i, t))`` over mined texts t' of
    image i, plus the same over mined images of text t. ``sum`` adds every hinge up; ``mean``
    divides each direction by its number of hinges.
    *Relations*: with one text per image and the diagonal as positives, ``sum`` with ``every`` is
    VSE0 and with ``hardest`` is VSE++; ``mean`` over all texts of an image is DivE's.
    *Paper*: VSE++ 2018, equation 6. Texts that share an image are positives, never negatives; the
    published code punishes them.
    """

    def __init__(
        self, margin: float, miner: Miner = hardest, reduction: Literal["sum", "mean"] = "sum"
    ) -> None:
        super().__init__()
        self.margin = margin
        self.miner = miner
        self.reduction = reduction

    def of_scores(
        self,
        scores: Float[Tensor, "image text"],
        positives: Bool[Tensor, "image text"],
        step: int = 0,
    ) -> Float[Tensor, ""]:
        """Add both directions up."""
        forth = self._one_way(scores, positives, step)
        return forth + self._one_way(scores.T, positives.T, step)

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
