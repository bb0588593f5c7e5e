"""Frozen features, projected: the body of every method that starts from precomputed vectors."""

import math

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.errors import RecipeError
from deixis.heads.l2_normalise import l2_normalise
from deixis.heads.pooling import masked_mean
from deixis.types import Regions, Tokens


class Projection(nn.Module):
    """A linear map of each region (or frozen token state) into the joint space.

    *Formula*: ``W x + b``, W uniform within ``sqrt(6 / (in + out))``, b zero.
    *Paper*: the image side of VSE++, SCAN, BFAN and VSRN.
    """

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.linear = xavier_linear(size, dim)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Project every place."""
        return self.linear(frozen_states(batch)), batch.mask


class UnitMeanProjection(Projection):
    """The mean of all places, scaled to unit length, then projected: one place per item.

    *Formula*: ``W (m / |m|) + b`` of the mean ``m``. *Relations*: were ``b`` zero, scaling the
    projected mean would give the same vector. *Paper*: VSE++ over a CNN and its average pooling.
    """

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Average, scale, project."""
        whole = l2_normalise(masked_mean(frozen_states(batch), batch.mask))
        return self.linear(whole).unsqueeze(1), batch.mask[:, :1]


class ProjectionMLP(nn.Module):
    """A linear map plus a two-layer perceptron beside it, both reading the raw feature.

    *Formula*: ``fc(x) + W₂ relu(BN(W₁ x + b₁)) + b₂`` with half the width between.
    *Paper*: VSE∞, image side on regions. Statistics are taken over the places that exist; the
    published code counts padding rows among them.
    """

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.linear = xavier_linear(size, dim)
        self.inner = nn.Linear(size, dim // 2)
        self.norm = nn.BatchNorm1d(dim // 2)
        self.outer = nn.Linear(dim // 2, dim)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Project every place that exists; the others stay zero."""
        values = frozen_states(batch)
        flat = values[batch.mask]
        out = self.linear(flat) + self.outer(self.norm(self.inner(flat)).relu())
        places = out.new_zeros(*values.shape[:2], out.shape[1])
        places[batch.mask] = out
        return places, batch.mask


def frozen_states(batch: Regions | Tokens) -> Float[Tensor, "item place feature"]:
    """The frozen vectors of a batch; a batch with only word ids is refused."""
    if batch.values is None:
        raise RecipeError("this encoder reads frozen states; choose text features that have them")
    return batch.values


def xavier_linear(size: int, dim: int) -> nn.Linear:
    """A linear layer as the field starts it: weights within ``sqrt(6 / (in + out))``, bias zero."""
    linear = nn.Linear(size, dim)
    limit = math.sqrt(6.0 / (size + dim))
    nn.init.uniform_(linear.weight, -limit, limit)
    nn.init.zeros_(linear.bias)
    return linear
