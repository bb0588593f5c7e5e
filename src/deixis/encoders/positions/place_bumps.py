"""Boxes encoded by a grid of Gaussian bumps: near places get similar codes, far ones do not."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

SIDE = 6  # bumps per side of the picture
SPREAD = 0.15  # of a bump, in sides of the picture
EXTENTS = (0.1, 0.15, 0.2, 0.25, 0.35, 1.0)  # sides of boxes, each with a bump on a log scale
WIDTH = SIDE * SIDE + len(EXTENTS)


class PlaceBumps(nn.Module):
    """The centre of a box on a grid of Gaussian bumps, and its size on a row of them.

    *Formula*: ``exp(−|c − g|² / 2σ²)`` for the grid points g, scaled to length one, beside the same
    over ``log side``. *Relations*: the product of two codes is a smooth kernel of two places, so
    "at the same place" needs no learning, only how much it counts.
    """

    grid: Float[Tensor, "bump 2"]
    extents: Float[Tensor, " extent"]

    def __init__(self) -> None:
        super().__init__()
        points = (torch.arange(SIDE) + 0.5) / SIDE
        self.register_buffer("grid", torch.cartesian_prod(points, points), persistent=False)
        self.register_buffer("extents", torch.tensor(EXTENTS).log(), persistent=False)

    def forward(self, boxes: Float[Tensor, "*item 5"]) -> Float[Tensor, "*item code"]:
        """Code boxes."""
        xmin, xmax, ymin, ymax, area = boxes.unbind(-1)
        centre = torch.stack([xmin + xmax, ymin + ymax], dim=-1) / 2
        apart = (centre.unsqueeze(-2) - self.grid).square().sum(dim=-1)
        where = (-apart / (2 * SPREAD**2)).exp()
        where = where / where.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        side = area.clamp(min=1e-4).log().unsqueeze(-1) / 2
        large = (-(side - self.extents).square() / (2 * 0.2**2)).exp()
        return torch.cat([where, large], dim=-1)
