"""A sight as a picture: one panel a word, one panel a region."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from PIL import Image, ImageDraw, ImageFont

from deixis.explain.sight import Sight

PANEL = 180  # pixels, the longer side of a panel's picture
LABEL = 34  # pixels under a panel for its words
ACROSS = 6
INK, PAPER, HEAT = (20, 20, 20), (255, 255, 255), (220, 40, 30)
WORDS_SHOWN = 3


def sheet(sight: Sight) -> Image.Image:
    """All panels of a sight, with a heading."""
    panels = [*gate_panels(sight), *word_panels(sight), *region_panels(sight)]
    width, height = (max(panel.size[axis] for panel in panels) for axis in (0, 1))
    rows = -(-len(panels) // ACROSS)
    page = Image.new("RGB", (width * min(ACROSS, len(panels)), LABEL + rows * height), PAPER)
    kind = "given" if sight.belongs else "swapped"
    heading = f"{kind}, score {sight.score:.3f}: {sight.text}"
    ImageDraw.Draw(page).text((6, 8), heading, INK, font(16))
    for place, panel in enumerate(panels):
        row, column = divmod(place, ACROSS)
        page.paste(panel, (column * width, LABEL + row * height))
    return page


def gate_panels(sight: Sight) -> list[Image.Image]:
    """Which regions let most of their messages in: redder from the lowest gate to the highest."""
    if sight.region_gates is None:
        return []
    low, high = float(sight.region_gates.min()), float(sight.region_gates.max())
    share = (sight.region_gates - low) / max(high - low, 1e-6)
    drawn = heated(small(sight), sight.boxes, share)
    return [panel(drawn, "gates of the regions", f"{low:.3f} to {high:.3f}")]


def word_panels(sight: Sight) -> list[Image.Image]:
    """Sentence to image: where each word looked."""
    if sight.to_regions is None:
        return []
    picture = small(sight)
    panels = []
    for place, (word, weights) in enumerate(zip(sight.words, sight.to_regions, strict=True)):
        gate = "" if sight.word_gates is None else f"gate {sight.word_gates[place]:.2f}"
        panels.append(panel(heated(picture, sight.boxes, weights), word, gate))
    return panels


def region_panels(sight: Sight) -> list[Image.Image]:
    """Image to sentence: the words each region listened to most."""
    if sight.to_words is None:
        return []
    picture = small(sight)
    panels = []
    for place, (box, weights) in enumerate(zip(sight.boxes, sight.to_words, strict=True)):
        best = np.argsort(-weights)[:WORDS_SHOWN]
        listened = " ".join(sight.words[word] for word in best)
        gate = "" if sight.region_gates is None else f"gate {sight.region_gates[place]:.2f}"
        framed = picture.copy()
        ImageDraw.Draw(framed).rectangle(pixels(box, framed.size), outline=HEAT, width=3)
        panels.append(panel(framed, listened, gate))
    return panels


def heated(
    picture: Image.Image,
    boxes: Float[ndarray, "region 5"],
    weights: Float[ndarray, " region"],
) -> Image.Image:
    """The picture, redder where a region has more weight; smaller regions lie on larger ones."""
    heat = np.zeros(picture.size[::-1])
    for region in np.argsort(-boxes[:, 4]):
        left, top, right, bottom = pixels(boxes[region], picture.size)
        heat[top : bottom + 1, left : right + 1] = weights[region]
    # Full red needs three times an even share, so attention that prefers nothing stays pale.
    alpha = 0.75 * heat[:, :, None] / max(float(weights.max()), 3 / len(weights))
    grey = np.asarray(picture.convert("L").convert("RGB"), dtype=np.float64)
    return Image.fromarray((grey * (1 - alpha) + np.array(HEAT) * alpha).astype(np.uint8))


def pixels(box: Float[ndarray, " 5"], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """A relative box as left, top, right and bottom pixels."""
    width, height = size
    left, right, top, bottom = (float(edge) for edge in box[:4])
    return (
        int(left * (width - 1)),
        int(top * (height - 1)),
        int(right * (width - 1)),
        int(bottom * (height - 1)),
    )


def panel(picture: Image.Image, label: str, note: str) -> Image.Image:
    """A picture with a line of words and a line of numbers under it."""
    out = Image.new("RGB", (picture.width + 8, picture.height + LABEL + 6), PAPER)
    out.paste(picture, (4, 0))
    draw = ImageDraw.Draw(out)
    draw.text((6, picture.height + 2), label, INK, font(13))
    draw.text((6, picture.height + 18), note, (110, 110, 110), font(12))
    return out


def small(sight: Sight) -> Image.Image:
    """The picture at the size of a panel."""
    with Image.open(sight.picture) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((PANEL, PANEL))
    return picture


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font that comes with Pillow."""
    return ImageFont.load_default(size)
