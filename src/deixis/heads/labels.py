"""Heads that tell labels, and rank by what they tell."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.unit import unit
from deixis.types import Embedding


class Labels(nn.Module):
    """One vector an item: the probability of each label, told from the mean of its places.

    *Formula*: ``unit(sigmoid(C mean(places)))``; the logits stay beside it as ``labels``.
    *Paper*: semantic sharing 2021, which compares items by their predicted labels.
    """

    def __init__(self, classifier: nn.Linear) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Pool, then tell."""
        logits = self.classifier(masked_mean(places, mask))
        return _embedding(unit(logits.sigmoid()), places, logits)


class PlaceLabels(nn.Module):
    """The labels each place tells, of unit length, averaged.

    *Relations*: one confident place counts as much as any other, so an item that shows a label
    once among many places tells it weakly.
    *Paper*: the published code of semantic sharing, which counts padding among the places.
    """

    def __init__(self, classifier: nn.Linear) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Tell, then pool."""
        logits = self.classifier(places)
        told = masked_mean(unit(logits.sigmoid()), mask)
        return _embedding(told, places, masked_mean(logits, mask))


def masked_mean(
    places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
) -> Float[Tensor, "item dim"]:
    """The mean over the places that exist."""
    kept = places.masked_fill(~mask.unsqueeze(2), 0.0)
    return kept.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def _embedding(
    told: Float[Tensor, "item label"],
    places: Float[Tensor, "item place dim"],
    logits: Float[Tensor, "item label"],
) -> Embedding:
    alone = torch.ones(len(told), 1, dtype=torch.bool, device=told.device)
    return Embedding(told.unsqueeze(1), alone, local=places, labels=logits)
