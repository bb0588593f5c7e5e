"""Pictures of an attention view: one panel per word, one panel per region."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from deixis.explanation.attention_view import AttentionView
from deixis.features.store.picture_formats import formats
from deixis.pages.figures.chart import Chart
from deixis.pages.figures.image_sheet import Panel, image_sheet
from deixis.pages.figures.overlay import overlay, pixels

SIDE = 240  # pixels, the longer side of a panel's picture
ACROSS = 6
FRAME = (255, 128, 16)
WORDS_SHOWN = 3


def attention_sheet(view: AttentionView) -> Chart:
    """All panels of a view on one sheet."""
    panels = [*gate_panels(view), *word_panels(view), *region_panels(view)]
    rows = [panels[start : start + ACROSS] for start in range(0, len(panels), ACROSS)]
    kind = "given" if view.given else "swapped"
    return image_sheet(rows, f"{kind}, score {view.score:.3f}: {view.text}")


def gate_panels(view: AttentionView) -> list[Panel]:
    """The gates of the regions, from dim at the lowest to a full glow at the highest."""
    if view.region_gates is None:
        return []
    low, high = float(view.region_gates.min()), float(view.region_gates.max())
    share = (view.region_gates - low) / max(high - low, 1e-6)
    drawn = overlay(thumbnail(view.picture), view.boxes, share)
    return [Panel(drawn, "gates of the regions", f"{low:.3f} to {high:.3f}")]


def word_panels(view: AttentionView) -> list[Panel]:
    """Text to image: the regions each word attends to."""
    if view.to_regions is None:
        return []
    picture, panels = thumbnail(view.picture), []
    for place, (word, weights) in enumerate(zip(view.words, view.to_regions, strict=True)):
        gate = "" if view.word_gates is None else f"gate {view.word_gates[place]:.2f}"
        panels.append(Panel(overlay(picture, view.boxes, weights), word, gate))
    return panels


def region_panels(view: AttentionView) -> list[Panel]:
    """Image to text: the words each region attends to most."""
    if view.to_words is None:
        return []
    picture, panels = thumbnail(view.picture), []
    for place, (box, weights) in enumerate(zip(view.boxes, view.to_words, strict=True)):
        best = np.argsort(-weights, kind="stable")[:WORDS_SHOWN]
        attended = " ".join(view.words[word] for word in best)
        gate = "" if view.region_gates is None else f"gate {view.region_gates[place]:.2f}"
        framed = picture.copy()
        ImageDraw.Draw(framed).rectangle(pixels(box, framed.size), outline=FRAME, width=4)
        panels.append(Panel(framed, attended, gate))
    return panels


def thumbnail(path: Path) -> Image.Image:
    """A picture at the size of a panel."""
    with Image.open(path, formats=formats()) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((SIDE, SIDE))
    return picture
