"""A recipe's figures as charts."""

from pathlib import Path

from deixis.errors import RunError
from deixis.files import write_atomic
from deixis.pages.figures.chart import Chart, Format
from deixis.pages.figures.plots import Curve, line_chart
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Figure
from deixis.recipes.results.figure_series import Drawn, drawn
from deixis.recipes.run_row import slug

MEASURES = {
    "image_f1": "image F1",
    "text_f1": "text F1",
    "i2t_ndcg": "image to text NDCG",
    "t2i_ndcg": "text to image NDCG",
    "i2t_map": "image to text mAP",
    "t2i_map": "text to image mAP",
    "i2t_hit@1": "image to text R@1",
    "t2i_hit@1": "text to image R@1",
    "rsum": "RSUM",
}


def draw_figures(
    recipe: Recipe, runs: Path, folder: Path, form: Format
) -> dict[str, Path | RunError]:
    """Write every figure of a recipe; one whose runs are unfinished gives the reason instead."""
    made: dict[str, Path | RunError] = {}
    for figure in recipe.figures:
        try:
            chart = figure_chart(recipe, figure, runs)
        except RunError as error:
            made[figure.title] = error
            continue
        file = folder / f"{slug(figure.title)}.{form}"
        write_atomic(file, chart.content(form))
        made[figure.title] = file
    return made


def figure_chart(recipe: Recipe, figure: Figure, runs: Path) -> Chart:
    """One figure of a recipe, from its finished runs."""
    return series_chart(drawn(recipe, figure, runs))


def series_chart(shown: Drawn) -> Chart:
    """One colour per measure, one line style per row."""
    colours = {measure: number for number, measure in enumerate(shown.figure.measures)}
    rows = list(dict.fromkeys(one.row for one in shown.series))
    curves = []
    for one in shown.series:
        name = MEASURES.get(one.measure, one.measure)
        curves.append(
            Curve(
                name=f"{name}, {one.row}" if one.row else name,
                x=one.x,
                mean=one.values.mean(axis=0),
                spread=one.values.std(axis=0, ddof=1) if len(one.values) > 1 else 0 * one.x,
                colour=colours[one.measure],
                line=rows.index(one.row),
            )
        )
    return line_chart(shown.figure.title, shown.axis, shown.ticks, curves)
