"""Sine position codes for attention."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deixis.errors import RecipeError

Boxes = Float[Tensor, "item place 5"]


def text_positions(
    mask: Bool[Tensor, "item place"], width: int, boxes: Boxes | None = None
) -> Float[Tensor, "item place width"]:
    """Codes of the places of a text, from the start of its line to its end.

    *Formula*: place j of n stands at ``2π j / n``; channel i holds the sine (even i) or the cosine
    (odd i) of ``angle / 10000^(2⌊i/2⌋/width)``.
    *Paper*: DivE 2023. The published code takes n from the longest text of the batch; here it is
    the text's own length, so that an embedding never depends on its batch.
    """
    steps = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return _waves(steps / (mask.sum(dim=1, keepdim=True) + 1e-6), width)


def grid_positions(
    mask: Bool[Tensor, "item place"], width: int, boxes: Boxes | None = None
) -> Float[Tensor, "item place width"]:
    """Codes of the cells of a grid, which their boxes describe; without boxes, of a square one.

    *Formula*: half the channels encode the row, half the column, each as ``text_positions`` has
    the places of a line. Every picture may have a grid of its own shape.
    """
    if boxes is None:
        boxes = _square(mask)
    lines = [_line(mask, boxes[..., low], boxes[..., low + 1]) for low in (2, 0)]
    return torch.cat([_waves(line, width // 2) for line in lines], dim=2)


def _line(
    mask: Bool[Tensor, "item place"],
    low: Float[Tensor, "item place"],
    high: Float[Tensor, "item place"],
) -> Float[Tensor, "item place"]:
    """How far down its line each cell stands; all cells of a picture have one size."""
    size = (high - low).masked_fill(~mask, 0.0)
    largest = size.amax(dim=1, keepdim=True)
    if bool(((largest - size).masked_fill(~mask, 0.0) > 0.05 * largest).any()):
        raise RecipeError(
            "position codes of a grid need cells of one size per picture; these regions differ in "
            "size, as a detector's do. Choose grid features, or image = 'regions'"
        )
    cells = (1 / largest.clamp(min=1e-6)).round()
    return (high * cells).round() / (cells + 1e-6)


def _square(mask: Bool[Tensor, "item place"]) -> Boxes:
    side = math.isqrt(mask.shape[1])
    if side * side != mask.shape[1] or not bool(mask.all()):
        raise RecipeError(
            f"position codes of a grid need boxes or a full square of cells; found {mask.shape[1]} "
            "places without boxes, or some missing. Choose grid features, or image = 'regions'"
        )
    cell = torch.arange(side * side, device=mask.device)
    x, y, one = cell % side / side, cell // side / side, torch.full_like(cell, 1) / side
    return torch.stack([x, x + one, y, y + one, one**2], dim=1).expand(mask.shape[0], -1, -1)


def _waves(share: Float[Tensor, "*place"], width: int) -> Float[Tensor, "*place width"]:
    channel = torch.arange(width, device=share.device)
    rate = 10000.0 ** (-2.0 * (channel // 2) / width)
    angle = share.unsqueeze(-1) * (2 * math.pi) * rate
    return torch.where(channel % 2 == 0, angle.sin(), angle.cos())
