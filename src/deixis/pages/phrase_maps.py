"""Maps of phrases beside the boxes people drew for them, as one drawing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from PIL import Image, ImageDraw

from deixis.evaluation.places.method_maps import DrawnPhrase, MapsResult
from deixis.pages.figures.attention_panels import FRAME, SIDE, thumbnail
from deixis.pages.figures.chart import Chart
from deixis.pages.figures.image_sheet import Panel, image_sheet
from deixis.pages.figures.overlay import overlay, pixels

GREY = (200, 200, 200)
PHRASES_ACROSS = 2


def phrase_maps_sheet(result: MapsResult, pictures: Sequence[Path] | None, heading: str) -> Chart:
    """Each phrase with its human boxes, then with each map; on grey where no pictures are given.

    Photographs that may not be passed on are left out by drawing on grey.
    """
    groups = [_panels(one, result.boxes, pictures) for one in result.drawn]
    rows = [
        [panel for group in groups[start : start + PHRASES_ACROSS] for panel in group]
        for start in range(0, len(groups), PHRASES_ACROSS)
    ]
    return image_sheet(rows, heading)


def _panels(
    one: DrawnPhrase, boxes: Float[ndarray, "region 5"], pictures: Sequence[Path] | None
) -> list[Panel]:
    ground = _grey() if pictures is None else thumbnail(pictures[one.image])
    framed = ground.copy()
    for box in one.human:
        edges = pixels(np.array([*box, 0.0]), framed.size)
        ImageDraw.Draw(framed).rectangle(edges, outline=FRAME, width=4)
    panels = [Panel(framed, one.words, "people")]
    for kind, weights in one.maps.items():
        above = weights - weights.min()
        shares = above / max(float(above.sum()), 1e-9)
        drawn = overlay(ground, boxes, shares)
        for box in one.human:
            edges = pixels(np.array([*box, 0.0]), drawn.size)
            ImageDraw.Draw(drawn).rectangle(edges, outline=FRAME, width=2)
        panels.append(Panel(drawn, "", kind))
    return panels


def _grey() -> Image.Image:
    return Image.new("RGB", (SIDE, SIDE), GREY)
