"""What a loss is, and how several make an objective."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.types import Outputs


class Loss(nn.Module, ABC):
    """A scalar from the outputs of one forward pass; it has no access to the encoders."""

    @abstractmethod
    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Compute the loss at a training step."""


class ScoreLoss(Loss):
    """A loss of scores and positives only; it takes them as plain tensors, too.

    >>> import torch
    >>> from deixis.losses.triplet import Triplet
    >>> positives = torch.eye(3, dtype=torch.bool)
    >>> Triplet(0.2)(torch.zeros(3, 3), positives)     # each of 3 pairs, both ways, by 0.2
    tensor(1.2000)
    """

    @abstractmethod
    def of_scores(
        self,
        scores: Float[Tensor, "image text"],
        positives: Bool[Tensor, "image text"],
        step: int = 0,
    ) -> Float[Tensor, ""]:
        """Compute the loss of a score matrix, given which pairs belong together."""

    def forward(
        self,
        out: Outputs | Float[Tensor, "image text"],
        step: int | Bool[Tensor, "image text"] = 0,
    ) -> Float[Tensor, ""]:
        """Compute the loss of a forward pass at a step, or of scores and positives."""
        if isinstance(out, Outputs):
            assert isinstance(step, int)
            return self.of_scores(out.scores, out.batch.positives, step)
        assert isinstance(step, Tensor), "scores come with the mask of their positives"
        return self.of_scores(out, step)


@dataclass(frozen=True)
class Term:
    """A loss with a weight and the name it is logged by; "rank" names the ranking term."""

    name: str
    loss: Loss
    weight: float = 1.0


class Objective(nn.Module):
    """Named weighted terms; their sum is what training minimises."""

    def __init__(self, *terms: Term) -> None:
        super().__init__()
        self.terms = terms
        self.losses = nn.ModuleDict({term.name: term.loss for term in terms})

    def forward(self, out: Outputs, step: int) -> dict[str, Float[Tensor, ""]]:
        """All terms, already weighted."""
        return {term.name: term.weight * term.loss(out, step) for term in self.terms}
