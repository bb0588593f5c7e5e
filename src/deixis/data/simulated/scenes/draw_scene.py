"""Scenes as pictures: objects drawn large and shrunk, so that edges are smooth, on a background."""

import numpy as np
from PIL import Image, ImageDraw

from deixis.data.simulated.scenes.backgrounds import paint_background
from deixis.data.simulated.scenes.objects import COLOURS, DRAWINGS, DrawnPart
from deixis.data.simulated.scenes.scene import Scene, Thing

SIDE = 256  # pixels of a picture, both ways
_LARGER = 3  # an object is drawn this many times larger than it is shown

Colour = tuple[int, int, int]

_FIXED: dict[str, Colour] = {
    "ink": (40, 40, 46),
    "paper": (250, 248, 240),
    "wood": (146, 98, 58),
    "leaf": (66, 150, 66),
    "beak": (246, 178, 40),
    "glass": (186, 224, 244),
    "stripe": (250, 226, 150),
}


def draw_scene(scene: Scene, rng: np.random.Generator) -> Image.Image:
    """Draw a scene; the generator decides on what no text speaks of, such as texture and shade."""
    picture = Image.fromarray(paint_background(scene.background, SIDE, rng))
    for thing in scene.things:
        side = round(thing.extent * SIDE)
        red, green, blue = rng.integers(-7, 8, size=3).tolist()
        tile = _draw_thing(thing, side * _LARGER, (red, green, blue))
        if rng.random() < 0.5:
            tile = tile.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        tile = tile.reduce(_LARGER)
        corner = (round(thing.x * SIDE - side / 2), round(thing.y * SIDE - side / 2))
        picture.paste(tile, corner, tile)
    return picture


def _draw_thing(thing: Thing, side: int, shade: Colour) -> Image.Image:
    main = _shaded(COLOURS[thing.colour], shade)
    # A black object keeps light lines, or it would vanish in the night.
    edge, dark = (_mixed(main, (0, 0, 0), share) for share in (0.5, 0.32))
    if thing.colour == "black":
        edge, dark = (160, 160, 166), (110, 110, 116)
    tones = _FIXED | {
        "main": main,
        "main_bare": main,
        "dark": dark,
        "light": _mixed(main, (255, 255, 255), 0.45),
    }
    # Where nothing is drawn the tile holds the edge's colour, so that shrinking makes no halo.
    tile = Image.new("RGBA", (side, side), (*edge, 0))
    pen = ImageDraw.Draw(tile)
    for part in DRAWINGS[thing.noun]:
        _draw_part(pen, part, tones[part.tone], edge, side)
    return tile


def _draw_part(
    pen: ImageDraw.ImageDraw, part: DrawnPart, fill: Colour, edge: Colour, side: int
) -> None:
    points = [round(p * (side - 1)) for p in part.points]
    outline = fill if part.tone == "main_bare" else edge
    width = max(1, round(0.028 * side))
    if part.form == "line":
        if part.tone == "main":
            pen.line(points, edge, round((part.width + 0.05) * side), joint="curve")
        pen.line(points, fill, max(1, round(part.width * side)), joint="curve")
    elif part.form == "polygon":
        pen.polygon(points, fill, outline, width)
    elif part.form == "ellipse":
        pen.ellipse(points, fill, outline, width)
    else:
        begin, end = (180, 360) if part.form == "dome" else (0, 180)
        pen.chord(points, begin, end, fill, outline, width)


def _mixed(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return (red, green, blue)


def _shaded(colour: Colour, shade: Colour) -> Colour:
    red, green, blue = (min(255, max(0, a + b)) for a, b in zip(colour, shade, strict=True))
    return (red, green, blue)
