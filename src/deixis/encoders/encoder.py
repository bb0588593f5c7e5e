"""An encoder is a body that keeps the length and a head that chooses the parts."""

from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.types import Embedding, Regions, Tokens


@runtime_checkable
class Body(Protocol):
    """Turns what an image or a text holds into contextual vectors, one a place."""

    def __call__(
        self, batch: Regions | Tokens, /
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Return the vectors and which of them exist."""
        ...


@runtime_checkable
class Head(Protocol):
    """Turns the vectors of an item into the parts of its embedding."""

    def __call__(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"], /
    ) -> Embedding:
        """Return the embedding of every item."""
        ...


class Encoder(nn.Module):
    """One tower: ``head(*body(batch))``."""

    def __init__(self, body: Body, head: Head) -> None:
        super().__init__()
        self.body = body
        self.head = head

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Embed a batch of images or texts."""
        return self.head(*self.body(batch))
