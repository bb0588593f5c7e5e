"""Traces drawn over pictures."""

from collections.abc import Sequence

from PIL import Image, ImageDraw

from deixis.features.trace.cleaning import Stroke, clean_strokes

FIRST, LAST = (40, 90, 220), (220, 50, 40)  # colours of the first and the last moment
CANVAS = (244, 244, 240)


def blank_canvas(side: int) -> Image.Image:
    """What a trace is drawn on when no picture is meant."""
    return Image.new("RGB", (side, side), CANVAS)


def with_trace(picture: Image.Image, strokes: Sequence[Stroke]) -> Image.Image:
    """A copy of a picture with the cleaned trace over it, from blue in time to red."""
    out = picture.copy()
    draw = ImageDraw.Draw(out)
    cleaned = clean_strokes(strokes)
    times = [point.t for stroke in cleaned for point in stroke]
    for stroke in cleaned:
        for here, there in zip(stroke, stroke[1:], strict=False):
            ends = [(point.x * out.width, point.y * out.height) for point in (here, there)]
            share = (here.t - min(times)) / max(max(times) - min(times), 1e-9)
            draw.line(ends, fill=_between(share), width=2)
    return out


def _between(share: float) -> tuple[int, int, int]:
    red, green, blue = (round(a + share * (b - a)) for a, b in zip(FIRST, LAST, strict=True))
    return red, green, blue
