"""A linear layer with an activation, on frozen features or on another body's output."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.encoders.frozen_features import FrozenFeatures
from deixis.types import Regions, Tokens


class ReluLayer(nn.Module):
    """``relu(W x + b)`` of every place (DSCMR)."""

    def __init__(self, size: int, dim: int, front: Body | None = None) -> None:
        super().__init__()
        self.front: Body = front or FrozenFeatures()
        self.linear = nn.Linear(size, dim)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Map every place."""
        places, mask = self.front(batch)
        return self.linear(places).relu(), mask
