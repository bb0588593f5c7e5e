"""Attention over a picture."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from PIL import Image, ImageFilter

GLOW = np.array([255.0, 72.0, 24.0])


def overlay(
    picture: Image.Image, boxes: Float[ndarray, "region 5"], weights: Float[ndarray, " region"]
) -> Image.Image:
    """Grey where regions have no weight, red where they have most.

    Full red takes three times a uniform share, so attention without a preference stays grey.
    """
    share = painted(boxes, weights, picture.size) / max(float(weights.max()), 3 / len(weights))
    level = Image.fromarray((255 * share.clip(0, 1)).astype(np.uint8))
    blurred = level.filter(ImageFilter.GaussianBlur(max(picture.size) / 60))
    amount = np.asarray(blurred, dtype=np.float64)[..., None] / 255
    colours = np.asarray(picture.convert("RGB"), dtype=np.float64)
    grey = 0.8 * colours.mean(axis=2, keepdims=True)
    lit = 0.4 * colours + 0.6 * GLOW  # strong enough to show on a picture taken at night
    return Image.fromarray((grey * (1 - amount) + lit * amount).astype(np.uint8))


def painted(
    boxes: Float[ndarray, "region 5"], weights: Float[ndarray, " region"], size: tuple[int, int]
) -> Float[ndarray, "y x"]:
    """The weight at every pixel; smaller regions are drawn over larger ones."""
    field = np.zeros(size[::-1])
    for region in np.argsort(-boxes[:, 4], kind="stable"):
        left, top, right, bottom = pixels(boxes[region], size)
        field[top : bottom + 1, left : right + 1] = weights[region]
    return field


def pixels(box: Float[ndarray, " 5"], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """A relative box as left, top, right and bottom pixels."""
    left, right, top, bottom = (float(edge) for edge in box[:4])
    across, down = size[0] - 1, size[1] - 1
    return int(left * across), int(top * down), int(right * across), int(bottom * down)
