"""Frozen features, projected: the body of every method that starts from precomputed vectors."""

import math

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.errors import RecipeError
from deixis.types import Regions, Tokens


class Project(nn.Module):
    """A linear map of each region (or frozen token state) into the joint space.

    *Formula*: ``W x + b``, W uniform within ``sqrt(6 / (in + out))``, b zero.
    *Paper*: the image side of VSE++, SCAN, BFAN and VSRN.
    """

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, dim)
        limit = math.sqrt(6.0 / (size + dim))
        nn.init.uniform_(self.linear.weight, -limit, limit)
        nn.init.zeros_(self.linear.bias)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Project every place."""
        if batch.values is None:
            raise RecipeError(
                "this encoder needs frozen features; choose text features with states"
            )
        return self.linear(batch.values), batch.mask
