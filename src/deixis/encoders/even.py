"""Places of one length, whatever the body before them leaves."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.heads.unit import unit
from deixis.types import Regions, Tokens


class Even(nn.Module):
    """Stretches every place to length ``√dim``, so that its numbers have variance one.

    *Relations*: what multiplies a region with a word, as a gate does, then neither drowns in the
    longer of the two nor ranks images by how long their regions are.
    """

    def __init__(self, front: Body) -> None:
        super().__init__()
        self.front = front

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Stretch what the front gives; padding may hold zeros, which stay zeros."""
        places, mask = self.front(batch)
        return unit(places) * places.shape[2] ** 0.5, mask
