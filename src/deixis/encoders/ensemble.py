"""Several small towers in one: an ensemble whose score is still one inner product."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Regions, Tokens


class Members(nn.Module):
    """The unit vectors of several bodies side by side, of unit length as a whole.

    The inner product of two such vectors is the mean of the members' cosines.
    """

    def __init__(self, bodies: list[Body]) -> None:
        super().__init__()
        self.bodies = nn.ModuleList(bodies)  # type: ignore[arg-type]

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Let every member embed the batch."""
        vectors, masks = zip(*(body(batch) for body in self.bodies), strict=True)
        parts = [l2_normalise(one) / math.sqrt(len(vectors)) for one in vectors]
        return torch.cat(parts, dim=-1), masks[0]
