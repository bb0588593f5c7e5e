"""An explanation as one picture: where each phrase is, and a bar per word."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from PIL import Image, ImageDraw, ImageFont

from deixis.explanation.attribution import Explanation
from deixis.explanation.maps_of_phrases import PhraseMap
from deixis.features.places.cell_grid import SIDE

LINE, BAR = 24, 220  # pixels: height of a word's line, length of the longest bar
INK, PAPER, FOR, AGAINST = (25, 25, 25), (255, 255, 255), (37, 99, 217), (190, 90, 30)


def explanation_picture(found: Explanation, text: str, picture: Image.Image) -> Image.Image:
    """Draw where the score comes from, with what each word adds beside it.

    A model with a place head shows one copy of the picture per phrase; a model with regions those
    that raise the score; a model of whole pictures has no places to show.
    """
    shown, shares = _panels(found, text, picture.convert("RGB")), _shares(found, text)
    height = max(shown.height, LINE * (len(shares) + 2))
    out = Image.new("RGB", (shown.width + BAR + 200, height), PAPER)
    out.paste(shown, (0, 0))
    pen, left = ImageDraw.Draw(out), shown.width + 16
    pen.text((left, 4), f"score {found.score:.3f}", INK, ImageFont.load_default(16))
    most = max(1e-9, *(abs(share) for _, share in shares))
    for line, (name, share) in enumerate(shares, 1):
        top = line * LINE + 8
        pen.text((left, top), name[:18], INK, ImageFont.load_default(14))
        bar = (
            left + 140,
            top + 3,
            left + 140 + max(1, round(abs(share) / most * (BAR - 80))),
            top + 15,
        )
        pen.rectangle(bar, fill=FOR if share >= 0 else AGAINST)
        pen.text((bar[2] + 6, top), f"{share:+.3f}", INK, ImageFont.load_default(12))
    return out


def _shares(found: Explanation, text: str) -> list[tuple[str, float]]:
    """What each word adds, then what pointing at each phrase adds."""
    words = [
        (text[slice(*span)], share)
        for span, share in zip(found.spans, found.words.tolist(), strict=True)
    ]
    places = [
        ("pointing: " + _said(one, text), one.share) for one in found.maps if one.share is not None
    ]
    return [*words, *places]


def _said(one: PhraseMap, text: str) -> str:
    return "something" if one.span is None else text[slice(*one.span)]


def _panels(found: Explanation, text: str, picture: Image.Image) -> Image.Image:
    if not found.maps:
        return _heated(picture, _region_heat(found, picture)) if len(found.boxes) else picture
    out = Image.new("RGB", (picture.width, (picture.height + LINE) * len(found.maps)), PAPER)
    pen = ImageDraw.Draw(out)
    for place, one in enumerate(found.maps):
        top = place * (picture.height + LINE)
        pen.text((4, top + 4), _said(one, text), INK, ImageFont.load_default(14))
        out.paste(_heated(picture, _cell_heat(one.cells, picture)), (0, top + LINE))
    return out


def _cell_heat(cells: Float[ndarray, " 81"], picture: Image.Image) -> Float[ndarray, "y x"]:
    """A map of cells, smooth at the size of the picture."""
    square = Image.fromarray(cells.reshape(SIDE, SIDE).astype(np.float32))
    return np.asarray(square.resize(picture.size, Image.Resampling.BICUBIC), dtype=np.float64)


def _region_heat(found: Explanation, picture: Image.Image) -> Float[ndarray, "y x"]:
    """What removing a region costs of the score, at each of its pixels."""
    heat = np.zeros(picture.size[::-1])
    for place in np.argsort(-found.boxes[:, 4]):  # small places lie on large ones
        xmin, xmax, ymin, ymax = found.boxes[place, :4]
        rows = slice(round(ymin * picture.height), max(1, round(ymax * picture.height)))
        columns = slice(round(xmin * picture.width), max(1, round(xmax * picture.width)))
        heat[rows, columns] = float(found.places[place])
    return heat


def _heated(picture: Image.Image, heat: Float[ndarray, "y x"]) -> Image.Image:
    """The picture in grey, bluer where it is hotter."""
    heat = heat.clip(0.0)
    alpha = 0.7 * heat[:, :, None] / max(float(heat.max(initial=0.0)), 1e-9)
    grey = np.asarray(picture.convert("L").convert("RGB"), dtype=np.float64)
    return Image.fromarray((grey * (1 - alpha) + np.array(FOR) * alpha).astype(np.uint8))
