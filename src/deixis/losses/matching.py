"""Binary classification of pairs as matching or not: positives and the hardest negatives."""

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import softplus

from deixis.losses.miners import Miner
from deixis.losses.objective import ScoreLoss


class Matching(ScoreLoss):
    """Binary cross-entropy of every matching pair and of the mined negatives of both its sides.

    *Formula*: with scores s as logits, for a positive (i, t): ``2 softplus(−s(i, t))`` plus the
    mean of ``softplus(s)`` over the mined texts of image i and over the mined images of text t.
    *Relations*: a model that predicts ½ for everything pays ``4 ln 2`` per pair, whichever
    negatives are mined: however many there are, they weigh as much as the positive they stand
    against.
    *Paper*: CAMP 2019, equation 10, with its signs corrected as its authors confirmed. The
    published code clips probabilities; logits need no clipping.
    """

    def __init__(self, miner: Miner) -> None:
        super().__init__()
        self.miner = miner

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
        self, logits: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"], step: int
    ) -> Float[Tensor, ""]:
        negatives = self.miner(logits, positives, step)
        query, item = positives.nonzero(as_tuple=True)
        wrong = softplus(logits).masked_fill(~negatives, 0.0).sum(dim=1)
        wrong = wrong / negatives.sum(dim=1).clamp(min=1)
        return softplus(-logits[query, item]).sum() + wrong[query].sum()
