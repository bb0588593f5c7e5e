"""A recipe's figures as pictures."""

import base64
import html
import io
from pathlib import Path

from PIL import Image

from deixis.explain.plot import Curve, plot
from deixis.features.files import write_atomic
from deixis.recipes.figures import Drawn, drawn
from deixis.recipes.recipe import Figure, Recipe
from deixis.recipes.run import slug

MEASURES = {
    "image_f1": "image F1",
    "text_f1": "text F1",
    "i2t_ndcg": "image to text NDCG",
    "t2i_ndcg": "text to image NDCG",
    "i2t_map": "image to text mAP",
    "t2i_map": "text to image mAP",
    "rsum": "RSUM",
}


def figure_of(recipe: Recipe, figure: Figure, runs: Path) -> Image.Image:
    """One figure of a recipe, from its finished runs."""
    return _picture(drawn(recipe, figure, runs))


def write_figure(title: str, figure: Image.Image, folder: Path) -> Path:
    """Write a figure as a PNG file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{slug(title)}.png"
    write_atomic(file, _png(figure))
    return file


def embedded(title: str, figure: Image.Image) -> str:
    """A figure for a page that needs nothing beside it."""
    data = base64.b64encode(_png(figure)).decode()
    return f"<img alt='{html.escape(title)}' src='data:image/png;base64,{data}'>\n"


def _picture(shown: Drawn) -> Image.Image:
    """A hue a measure, a stroke a row."""
    hues = {measure: hue for hue, measure in enumerate(shown.figure.measures)}
    first = shown.series[0].row
    curves = []
    for one in shown.series:
        name = MEASURES.get(one.measure, one.measure)
        spread = one.values.std(axis=0, ddof=1) if len(one.values) > 1 else 0 * one.x
        mean = one.values.mean(axis=0)
        label = f"{name}, {one.row}" if one.row else name
        curves.append(Curve(label, one.x, mean, spread, hues[one.measure], one.row != first))
    return plot(shown.figure.title, shown.axis, shown.ticks, curves)


def _png(figure: Image.Image) -> bytes:
    content = io.BytesIO()
    figure.save(content, "PNG", optimize=True)
    return content.getvalue()
