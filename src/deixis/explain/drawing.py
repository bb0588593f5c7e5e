"""Pictures of numbers: heat over a photograph, points on a plane."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from PIL import Image, ImageDraw, ImageFont

FINE = 56  # cells a side onto which boxes are painted before they are smoothed
# Eight hues told apart by most colour-blind readers, then repeated.
HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#555555")


def heat(
    picture: Image.Image, boxes: Float[ndarray, "region 5"], weight: Float[ndarray, " region"]
) -> Image.Image:
    """Lay attention over a picture: what gets none is dim and grey, what gets most glows."""
    field = _field(boxes, weight)
    share = np.square(
        field / max(float(field.max()), 1e-12)
    )  # squared: faint attention stays faint
    strength = Image.fromarray((255 * share).astype(np.uint8))
    mask = strength.resize(picture.size, Image.Resampling.BICUBIC)
    plain = np.asarray(picture.convert("RGB"), dtype=np.float32)
    amount = np.asarray(mask, dtype=np.float32)[..., None] / 255.0
    dim = 0.35 * plain.mean(axis=2, keepdims=True) + 0.1 * plain
    glow = np.array([255.0, 150.0, 30.0])
    lit = 0.55 * plain + 0.45 * glow  # strong enough to show on a picture taken at night
    return Image.fromarray((dim * (1 - amount) + lit * amount).clip(0, 255).astype(np.uint8))


def _field(
    boxes: Float[ndarray, "region 5"], weight: Float[ndarray, " region"]
) -> Float[ndarray, "y x"]:
    """Weight per area: a large box spreads its weight thin."""
    field = np.zeros((FINE, FINE))
    edges = np.round(boxes[:, :4] * FINE).astype(int)
    for (left, right, top, bottom), part in zip(edges, weight, strict=True):
        cells = max(1, (right - left) * (bottom - top))
        field[top : max(bottom, top + 1), left : max(right, left + 1)] += part / cells
    return field


def sheet(rows: Sequence[Sequence[Image.Image]], headings: Sequence[str]) -> Image.Image:
    """Pictures in rows and columns, a heading over each column."""
    wide = max(picture.width for row in rows for picture in row)
    high = max(picture.height for row in rows for picture in row)
    gap, head = 6, 22
    size = (len(headings) * (wide + gap) + gap, len(rows) * (high + gap) + gap + head)
    out = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(out), ImageFont.load_default(14)
    for column, heading in enumerate(headings):
        pen.text((gap + column * (wide + gap), 4), heading, fill="black", font=font)
    for line, row in enumerate(rows):
        for column, picture in enumerate(row):
            out.paste(picture, (gap + column * (wide + gap), head + gap + line * (high + gap)))
    return out


def scatter(
    points: Float[ndarray, "point 2"],
    colour: Int[ndarray, " point"],
    square: ndarray,
    title: str,
    side: int = 420,
) -> Image.Image:
    """Points on a plane, coloured by group; squares where asked, discs elsewhere."""
    scale = 3  # drawn large, then shrunk: smooth edges
    out = Image.new("RGB", (side * scale, (side + 24) * scale), "white")
    pen = ImageDraw.Draw(out, "RGBA")
    low, high = points.min(axis=0), points.max(axis=0)
    spread = np.maximum(high - low, 1e-9)
    places = ((points - low) / spread * 0.94 + 0.03) * side * scale
    places[:, 1] += 24 * scale
    for (x, y), group, box in zip(places, colour, square, strict=True):
        fill = (*_rgb(HUES[group % len(HUES)]), 170)
        draw = pen.rectangle if box else pen.ellipse
        draw((x - 5, y - 5, x + 5, y + 5), fill=fill)
    pen.rectangle((0, 0, out.width - 1, out.height - 1), outline="#cccccc", width=scale)
    pen.text((6 * scale, 4 * scale), title, fill="black", font=ImageFont.load_default(14 * scale))
    return out.resize((side, side + 24), Image.Resampling.LANCZOS)


def _rgb(hue: str) -> tuple[int, int, int]:
    return int(hue[1:3], 16), int(hue[3:5], 16), int(hue[5:7], 16)
