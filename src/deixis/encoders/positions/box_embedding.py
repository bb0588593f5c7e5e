"""Boxes to vectors."""

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

BoxCode = Literal["linear", "fourier"]
BoxReading = Literal["scalars", "vector"]  # five numbers projected one by one, or together
_OCTAVES = 4


class BoxEmbedding(nn.Module):
    """Each of a box's five numbers projected on its own; the five results through an FFN.

    *Formula*: ``FFN([w₁ xmin + b₁; …; w₅ area + b₅])``, 5 × dim in, dim out. ``fourier`` puts
    the sines and cosines of four octaves beside each number before it is projected.
    *Paper*: text + trace 2021, A.1, with dim 512 and so 2560 into the FFN. Whether the five
    projections share weights is not printed; ours do not.
    """

    def __init__(self, dim: int, code: BoxCode, dropout: float) -> None:
        super().__init__()
        self.code = code
        inputs = 1 if code == "linear" else 1 + 2 * _OCTAVES
        self.weight = nn.Parameter(torch.randn(5, inputs, dim) / math.sqrt(inputs))
        # Biases as large as the weights: else every unit of the FFN has its kink at the same place.
        self.bias = nn.Parameter(torch.randn(5, dim))
        self.feed = feed_forward(5 * dim, dim, dim, dropout)
        for parameter in self.feed.parameters():
            if parameter.ndim > 1:  # a place must count beside a feature from the first step
                nn.init.kaiming_normal_(parameter)

    def forward(self, boxes: Float[Tensor, "*item 5"]) -> Float[Tensor, "*item dim"]:
        """Embed boxes."""
        weight, bias = self.folded()
        hidden = linear(self.numbers(boxes).flatten(-2), weight, bias)
        return self.feed[1:](hidden)

    def numbers(self, boxes: Float[Tensor, "*item 5"]) -> Float[Tensor, "*item 5 input"]:
        """The numbers to project: each centred at 0, with its sine waves if wanted."""
        numbers = (2 * boxes - 1).unsqueeze(-1)
        if self.code == "linear":
            return numbers
        octaves = torch.pi * 2.0 ** torch.arange(_OCTAVES, device=boxes.device)
        angles = boxes.unsqueeze(-1) * octaves
        return torch.cat([numbers, angles.sin(), angles.cos()], dim=-1)

    def folded(self) -> tuple[Float[Tensor, "dim inputs"], Float[Tensor, " dim"]]:
        """The five projections and the FFN's first layer as one linear map.

        There is no activation between them, so the 5 x dim values per box are never formed.
        """
        first = self.feed[0]
        assert isinstance(first, nn.Linear)
        by_number = first.weight.unflatten(1, self.bias.shape)
        weight = torch.einsum("snd,osd->osn", self.weight, by_number).flatten(1)
        return weight, first.bias + first.weight @ self.bias.flatten()


class BoxVector(nn.Module):
    """A box's five numbers, projected together: the other reading of the same sentence.

    *Formula*: ``W (2 box − 1) + b``. Beside a region's 2048 numbers its 512 make 2560, too.
    *Paper*: text + trace 2021, A.1, read as one projection of the 5-vector.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.linear = nn.Linear(5, dim)

    def forward(self, boxes: Float[Tensor, "*item 5"]) -> Float[Tensor, "*item dim"]:
        """Embed boxes."""
        return self.linear(2 * boxes - 1)


def feed_forward(size: int, hidden: int, dim: int, dropout: float) -> nn.Sequential:
    """The two-layer network with ReLU that the embedders and poolers share."""
    return nn.Sequential(
        nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, dim)
    )


def bind_to_place(
    what: Float[Tensor, "*item dim"], where: Float[Tensor, "*item dim"]
) -> Float[Tensor, "*item dim"]:
    """Bind a feature to its place: the feature itself plus its product with the place.

    Sums of products differ between "boat left, dog right" and "dog left, boat right"; sums of
    features and places do not. No place (zero) leaves the feature as it is.
    """
    return what * (1 + where)
