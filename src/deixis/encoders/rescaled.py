"""Rescale every output vector of an encoder to the same length."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Regions, Tokens


class Rescaled(nn.Module):
    """Rescales every place to length ``√dim``, so that its numbers have variance one.

    *Relations*: what multiplies a region with a word, as a gate does, then neither drowns in the
    longer of the two nor ranks images by how long their regions are.
    """

    def __init__(self, front: Body) -> None:
        super().__init__()
        self.front = front

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Rescale the front's output; padding may hold zeros, which stay zeros."""
        places, mask = self.front(batch)
        return l2_normalise(places) * places.shape[2] ** 0.5, mask
