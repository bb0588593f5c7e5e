"""What a loss is, and how several make an objective."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from deixis.types import Outputs


class Loss(nn.Module, ABC):
    """A number from one forward pass; it never sees an encoder."""

    @abstractmethod
    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Compute the loss at a training step."""


@dataclass(frozen=True)
class Term:
    """A loss with a name to log it by and a weight; "rank" is the name of the ranking term."""

    name: str
    loss: Loss
    weight: float = 1.0


class Objective(nn.Module):
    """Named weighted terms; their sum is what training lowers."""

    def __init__(self, *terms: Term) -> None:
        super().__init__()
        self.terms = terms
        self.losses = nn.ModuleDict({term.name: term.loss for term in terms})

    def forward(self, out: Outputs, step: int) -> dict[str, Float[Tensor, ""]]:
        """All terms, already weighted."""
        return {term.name: term.weight * term.loss(out, step) for term in self.terms}
