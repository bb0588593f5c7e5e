"""Frozen features, unchanged: the body for heads that attend to raw features."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.projection import frozen_states
from deixis.types import Regions, Tokens


class FrozenFeatures(nn.Module):
    """Passes region vectors or frozen token states on, unchanged."""

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Return what the features hold."""
        return frozen_states(batch), batch.mask
