"""An encoder is a body that keeps the length and a head that chooses the parts."""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.types import Embedding, Regions, Tokens


@runtime_checkable
class Body(Protocol):
    """Turns the regions of an image or the tokens of a text into contextual vectors, one each."""

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
        return self.head(*self.for_head(batch))

    def for_head(self, batch: Regions | Tokens) -> tuple[Any, ...]:
        """What the head is given: the body's vectors, and which of them exist."""
        return self.body(batch)
