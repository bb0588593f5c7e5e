"""Pictures of numbers: heat over a photograph, points on a plane."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FINE = 56  # cells a side onto which boxes are painted before they are smoothed
BLUR = 3  # of those cells: the edges of a grid's boxes melt, what lies in them stays
# Eight hues told apart by most colour-blind readers, then repeated.
HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#555555")


def heat(
    picture: Image.Image, boxes: Float[ndarray, "region 5"], weight: Float[ndarray, " region"]
) -> Image.Image:
    """Lay attention over a picture: what gets none is dim and grey, what gets most glows."""
    field = _field(boxes, weight)
    level = (255 * field / max(float(field.max()), 1e-12)).astype(np.uint8)
    smooth = Image.fromarray(level).filter(ImageFilter.GaussianBlur(BLUR))
    spread = smooth.resize(picture.size, Image.Resampling.BICUBIC)
    share = np.asarray(spread, dtype=np.float32)[..., None]
    # A full glow needs twice an even share, so attention that prefers nothing stays dim; squared,
    # so that faint attention stays faint.
    amount = np.square(share / max(float(share.max()), 2.0 * float(share.mean()), 1.0))
    plain = np.asarray(picture.convert("RGB"), dtype=np.float32)
    dim = 0.4 * plain.mean(axis=2, keepdims=True) + 0.15 * plain
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
    """Pictures in rows and columns, a heading over each column; a row may end early."""
    gap, head = 6, 22 if any(headings) else 0
    wide = [max(row[c].width for row in rows if c < len(row)) for c in range(len(headings))]
    high = [max(picture.height for picture in row) for row in rows]
    lefts = [gap + sum(wide[:column]) + column * gap for column in range(len(wide) + 1)]
    tops = [head + gap + sum(high[:line]) + line * gap for line in range(len(high) + 1)]
    out = Image.new("RGB", (lefts[-1], tops[-1]), "white")
    pen, font = ImageDraw.Draw(out), ImageFont.load_default(14)
    for left, heading in zip(lefts, headings, strict=False):
        pen.text((left, 4), heading, fill="black", font=font)
    for top, row in zip(tops, rows, strict=False):
        for left, picture in zip(lefts, row, strict=False):
            out.paste(picture, (left, top))
    return out


def note(lines: Sequence[str], hue: str, size: tuple[int, int]) -> Image.Image:
    """Words on paper, broken so that they fit its width."""
    out = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(out), ImageFont.load_default(14)
    broken = [part for line in lines for part in _broken(line, font, size[0])]
    pen.multiline_text((0, 4), "\n".join(broken), fill=hue, font=font, spacing=4)
    return out


def _broken(line: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, wide: int) -> list[str]:
    parts = [""]
    for word in line.split():
        longer = f"{parts[-1]} {word}".strip()
        if font.getlength(longer) <= wide:
            parts[-1] = longer
        else:
            parts.append(word)
    return parts


def key(groups: Sequence[str], square: str, ring: str) -> Image.Image:
    """What the colours and shapes of a scatter mean, in one line."""
    font = ImageFont.load_default(14)
    entries = [(name, HUES[place % len(HUES)], True) for place, name in enumerate(groups)]
    entries += [(square, "#222222", True), (ring, "#222222", False)]
    out = Image.new("RGB", (sum(30 + int(font.getlength(e[0])) for e in entries), 24), "white")
    pen, left = ImageDraw.Draw(out, "RGBA"), 4.0
    for name, hue, box in entries:
        _mark(pen, (left + 5, 12.0), 5, _rgb(hue), square=box)
        pen.text((left + 14, 4), name, fill="black", font=font)
        left += 30 + int(font.getlength(name))
    return out


def scatter(
    points: Float[ndarray, "point 2"],
    colour: Int[ndarray, " point"],
    square: ndarray,
    title: str,
    side: int = 420,
) -> Image.Image:
    """Points on a plane, coloured by group; squares where asked, rings elsewhere."""
    scale = 3  # drawn large, then shrunk: smooth edges
    out = Image.new("RGB", (side * scale, (side + 24) * scale), "white")
    pen = ImageDraw.Draw(out, "RGBA")
    low, high = points.min(axis=0), points.max(axis=0)
    spread = np.maximum(high - low, 1e-9)
    places = ((points - low) / spread * 0.94 + 0.03) * side * scale
    places[:, 1] += 24 * scale
    for (x, y), group, box in zip(places.tolist(), colour, square, strict=True):
        _mark(pen, (x, y), 8, _rgb(HUES[group % len(HUES)]), square=bool(box))
    pen.rectangle((0, 0, out.width - 1, out.height - 1), outline="#cccccc", width=scale)
    pen.text((6 * scale, 4 * scale), title, fill="black", font=ImageFont.load_default(14 * scale))
    return out.resize((side, side + 24), Image.Resampling.LANCZOS)


def _mark(
    pen: ImageDraw.ImageDraw,
    middle: tuple[float, float],
    half: int,
    colour: tuple[int, int, int],
    *,
    square: bool,
) -> None:
    x, y = middle
    around = (x - half, y - half, x + half, y + half)
    if square:
        pen.rectangle(around, fill=(*colour, 170))
    else:
        pen.ellipse(around, outline=(*colour, 230), width=max(2, half // 2))


def _rgb(hue: str) -> tuple[int, int, int]:
    return int(hue[1:3], 16), int(hue[3:5], 16), int(hue[5:7], 16)
