"""Sine codes that tell an attention where a place stands."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deixis.errors import RecipeError


def line_codes(mask: Bool[Tensor, "item place"], width: int) -> Float[Tensor, "item place width"]:
    """Codes of the places of a text, from the start of its line to its end.

    *Formula*: place j of n stands at ``2π j / n``; channel i holds the sine (even i) or the cosine
    (odd i) of ``angle / 10000^(2⌊i/2⌋/width)``.
    *Paper*: DivE 2023. The published code takes n from the longest text of the batch; here it is
    the text's own length, so that an embedding never depends on its batch.
    """
    steps = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return _waves(steps / (mask.sum(dim=1, keepdim=True) + 1e-6), width)


def grid_codes(mask: Bool[Tensor, "item place"], width: int) -> Float[Tensor, "item place width"]:
    """Codes of the cells of a square grid, row by row.

    *Formula*: half the channels tell the row, half the column, each as ``line_codes`` has them.
    """
    side = math.isqrt(mask.shape[1])
    if side * side != mask.shape[1] or not bool(mask.all()):
        raise RecipeError(
            f"position codes of a grid need a full square of cells; found {mask.shape[1]} places "
            "or some of them missing. Choose grid features, or image = 'regions'"
        )
    line = _waves(torch.arange(1, side + 1, device=mask.device) / (side + 1e-6), width // 2)
    rows = line.unsqueeze(1).expand(side, side, -1)
    columns = line.unsqueeze(0).expand(side, side, -1)
    return torch.cat([rows, columns], 2).flatten(0, 1).expand(mask.shape[0], -1, -1)


def _waves(share: Float[Tensor, "*place"], width: int) -> Float[Tensor, "*place width"]:
    channel = torch.arange(width, device=share.device)
    rate = 10000.0 ** (-2.0 * (channel // 2) / width)
    angle = share.unsqueeze(-1) * (2 * math.pi) * rate
    return torch.where(channel % 2 == 0, angle.sin(), angle.cos())
