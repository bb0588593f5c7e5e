"""A recipe's table and figures as one HTML page."""

from collections.abc import Sequence
from pathlib import Path

from deixis.pages.figures.chart import Chart
from deixis.pages.figures.recipe_figures import figure_chart
from deixis.pages.render import render
from deixis.recipes.recipe import Recipe
from deixis.recipes.results.printed_table import Report


def table_page(report: Report, figures: Sequence[Chart] = ()) -> str:
    """The whole page: our numbers, the paper's under them, then the figures."""
    return render("table", title=report.title, report=report, figures=figures)


def recipe_page(recipe: Recipe, report: Report, runs: Path) -> str:
    """The page of a recipe that has run, with the figures it asks for."""
    return table_page(report, [figure_chart(recipe, one, runs) for one in recipe.figures])
