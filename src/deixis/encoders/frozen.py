"""Features as they are: the body of heads that attend to raw places."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.project import states_of
from deixis.types import Regions, Tokens


class Frozen(nn.Module):
    """Passes region vectors or frozen token states on, unchanged."""

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Return what the features hold."""
        return states_of(batch), batch.mask
