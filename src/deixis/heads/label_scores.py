"""Heads that predict labels; items are ranked by what is predicted."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.errors import RecipeError
from deixis.heads.l2_normalise import l2_normalise
from deixis.heads.pooling import masked_mean
from deixis.types import Embedding, Sizes


class PooledLabels(nn.Module):
    """Label probabilities of an item, predicted from the mean of its places.

    *Formula*: ``l2_normalise(sigmoid(C mean(places)))``; the logits are kept as ``labels``, the
    mean as ``representation``.
    *Paper*: semantic sharing 2021, which compares items by their predicted labels.
    """

    def __init__(self, classifier: nn.Linear) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Pool, then classify."""
        mean = masked_mean(places, mask)
        logits = self.classifier(mean)
        vectors = l2_normalise(logits.sigmoid()).unsqueeze(1)
        return Embedding(vectors, _alone(vectors), None, mean, places, logits)


class PlaceLabels(nn.Module):
    """Label probabilities of each place, L2-normalised, averaged over the item.

    *Relations*: one confident place counts as much as any other, so an item that shows a label
    at one of many places predicts it weakly.
    *Paper*: the published code of semantic sharing, which counts padding among the places.
    """

    def __init__(self, classifier: nn.Linear) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Classify, then pool."""
        logits = self.classifier(places)
        vectors = masked_mean(l2_normalise(logits.sigmoid()), mask).unsqueeze(1)
        mean = masked_mean(places, mask)
        return Embedding(vectors, _alone(vectors), None, mean, places, masked_mean(logits, mask))


def label_count(sizes: Sizes) -> int:
    """How many labels the corpus has; a corpus without labels is refused."""
    if not sizes.labels:
        raise RecipeError("label-wise methods need a corpus with labels; this one has none")
    return sizes.labels


def _alone(vectors: Float[Tensor, "item 1 dim"]) -> Bool[Tensor, "item 1"]:
    return torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
