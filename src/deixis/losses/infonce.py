"""Softmax over the batch, both ways: the loss of two-tower models trained at scale."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from deixis.losses.objective import ScoreLoss

HIGHEST = 100.0  # largest scale: above it one wrong pair outweighs the batch


class InfoNCE(ScoreLoss):
    """Cross-entropy of the right match among the batch, in both directions (InfoNCE).

    *Formula*: with ``s`` a learned scale, the mean over positives (i, t) of
    ``−log exp(s S(i, t)) / (exp(s S(i, t)) + Σ exp(s S(i, t')))`` over the texts t' that do not
    belong to image i, averaged with the same over the images of text t.
    *Relations*: with one text per image it is the cross-entropy of CLIP; a pair's other positives
    are left out of its sum, so two texts of one image never push each other away.
    *Paper*: text + trace 2021 trains with in-batch negatives and does not print its temperature;
    ours starts at 0.07 and never falls below 0.01.
    """

    def __init__(self, temperature: float = 0.07) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(-math.log(temperature)))

    def of_scores(
        self,
        scores: Float[Tensor, "image text"],
        positives: Bool[Tensor, "image text"],
        step: int = 0,
    ) -> Float[Tensor, ""]:
        """Average both directions."""
        logits = self.log_scale.clamp(max=math.log(HIGHEST)).exp() * scores
        return (_one_way(logits, positives) + _one_way(logits.T, positives.T)) / 2


def _one_way(
    logits: Float[Tensor, "query item"], positives: Bool[Tensor, "query item"]
) -> Float[Tensor, ""]:
    query, item = positives.nonzero(as_tuple=True)
    others = positives[query]
    others[torch.arange(len(item), device=item.device), item] = False
    return cross_entropy(logits[query].masked_fill(others, float("-inf")), item)
