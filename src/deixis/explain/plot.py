"""Curves with the spread of their seeds, as one picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from PIL import Image, ImageDraw, ImageFont

from deixis.explain.drawing import HUES

SCALE = 3.0  # drawn large, then shrunk: smooth edges
WIDE, HIGH = 560, 340  # of the picture; the field within it is what margins leave
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 34, 44
ROW = 18  # pixels of a line of the legend
DASH, PAUSE = 7, 5

# Signs that Pillow's own font lacks.
PLAIN = str.maketrans({"−": "-", "–": "-", "→": ">", "×": "x", "λ": "lambda", "η": "eta"})

Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """Means over seeds along an axis, how far seeds spread around them, and how to draw them."""

    name: str
    x: Float[ndarray, " point"]
    mean: Float[ndarray, " point"]
    spread: Float[ndarray, " point"]
    hue: int = 0
    dashed: bool = False


def plot(
    title: str, axis: str, ticks: Sequence[tuple[float, str]], curves: Sequence[Curve]
) -> Image.Image:
    """Draw curves over an axis with the ticks given; the height fits what the curves need."""
    field = _Field.around(ticks, curves)
    font = ImageFont.load_default(12 * SCALE)
    room = max(font.getlength(curve.name.translate(PLAIN)) for curve in curves) / SCALE + 50
    columns = 2 if room < (WIDE - LEFT) / 2 else 1
    high = HIGH + ROW * -(-len(curves) // columns)
    out = Image.new("RGB", (int(WIDE * SCALE), int(high * SCALE)), "white")
    pen = ImageDraw.Draw(out, "RGBA")
    pen.text(
        (LEFT * SCALE, 8 * SCALE),
        title.translate(PLAIN),
        fill="black",
        font=ImageFont.load_default(14 * SCALE),
    )
    _axes(pen, field, ticks, axis)
    for curve in curves:
        _draw(pen, field, curve)
    for number, curve in enumerate(curves):
        left = LEFT + number % columns * (WIDE - LEFT) // 2
        _name(pen, curve, left, HIGH + ROW * (number // columns))
    return out.resize((WIDE, high), Image.Resampling.LANCZOS)


@dataclass(frozen=True)
class _Field:
    """Where values lie on the picture."""

    left: float
    right: float
    low: float
    high: float

    @classmethod
    def around(cls, ticks: Sequence[tuple[float, str]], curves: Sequence[Curve]) -> "_Field":
        places = [place for place, _ in ticks] + [x for curve in curves for x in curve.x.tolist()]
        low = min(float((curve.mean - curve.spread).min()) for curve in curves)
        high = max(float((curve.mean + curve.spread).max()) for curve in curves)
        room = 0.06 * max(high - low, 1e-6)
        return cls(min(places), max(places), low - room, high + room)

    def at(self, x: float, y: float) -> Point:
        across = (x - self.left) / max(self.right - self.left, 1e-9)
        up = (y - self.low) / (self.high - self.low)
        inner = 0.02 * (WIDE - LEFT - RIGHT)  # so that first and last points stand free
        return (
            (LEFT + inner + across * (WIDE - LEFT - RIGHT - 2 * inner)) * SCALE,
            (HIGH - BOTTOM - up * (HIGH - TOP - BOTTOM)) * SCALE,
        )

    def heights(self) -> list[float]:
        """Round values about a sixth of the height apart."""
        rough = (self.high - self.low) / 5
        power = 10.0 ** np.floor(np.log10(rough))
        step = float(power * min((n for n in (1, 2, 5, 10) if n * power >= rough), default=10))
        return [step * n for n in range(int(np.ceil(self.low / step)), int(self.high / step) + 1)]


def _axes(
    pen: ImageDraw.ImageDraw, field: _Field, ticks: Sequence[tuple[float, str]], axis: str
) -> None:
    """Lines at round heights, words under the field."""
    font = ImageFont.load_default(12 * SCALE)
    for value in field.heights():
        y = field.at(field.left, value)[1]
        pen.line((LEFT * SCALE, y, (WIDE - RIGHT) * SCALE, y), fill="#e4e4e4", width=int(SCALE))
        pen.text(((LEFT - 6) * SCALE, y), f"{value:g}", fill="#444", font=font, anchor="rm")
    for place, word in ticks:
        x, y = field.at(place, field.low)
        pen.text((x, y + 6 * SCALE), word, fill="#444", font=font, anchor="ma")
    pen.text(
        ((WIDE - RIGHT) * SCALE, (HIGH - 22) * SCALE),
        axis.translate(PLAIN),
        "#444",
        font,
        anchor="ra",
    )


def _name(pen: ImageDraw.ImageDraw, curve: Curve, x: int, y: int) -> None:
    """A curve in the legend."""
    _stroke(pen, [(x * SCALE, y * SCALE), ((x + 30) * SCALE, y * SCALE)], curve)
    font, place = ImageFont.load_default(12 * SCALE), ((x + 38) * SCALE, y * SCALE)
    pen.text(place, curve.name.translate(PLAIN), fill="#222", font=font, anchor="lm")


def _draw(pen: ImageDraw.ImageDraw, field: _Field, curve: Curve) -> None:
    above, on, below = (
        [field.at(x, y) for x, y in zip(curve.x.tolist(), values.tolist(), strict=True)]
        for values in (curve.mean + curve.spread, curve.mean, curve.mean - curve.spread)
    )
    if len(on) > 1 and curve.spread.any():
        pen.polygon([*above, *reversed(below)], fill=HUES[curve.hue % len(HUES)] + "22")
    _stroke(pen, on, curve)
    for x, y in on:
        reach = 3 * SCALE
        pen.ellipse((x - reach, y - reach, x + reach, y + reach), fill=HUES[curve.hue % len(HUES)])


def _stroke(pen: ImageDraw.ImageDraw, points: Sequence[Point], curve: Curve) -> None:
    """A line through points, or its dashes."""
    hue, width = HUES[curve.hue % len(HUES)], int(2 * SCALE)
    if not curve.dashed:
        pen.line(list(points), fill=hue, width=width, joint="curve")
        return
    for start, end in zip(points[:-1], points[1:], strict=True):
        far = np.hypot(end[0] - start[0], end[1] - start[1])
        for along in np.arange(0, far, (DASH + PAUSE) * SCALE):
            a, b = along / far, min(1.0, (along + DASH * SCALE) / far)
            ends = [
                (start[0] + t * (end[0] - start[0]), start[1] + t * (end[1] - start[1]))
                for t in (a, b)
            ]
            pen.line(ends, fill=hue, width=width)
