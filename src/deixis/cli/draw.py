"""`deixis draw`: a recipe's figures from its finished runs."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Overrides, RecipePath, Runs
from deixis.cli.progress import say


@app.command()
def draw(
    recipe: RecipePath,
    overrides: Overrides = None,
    runs: Runs = Path("runs"),
    out: Annotated[Path, typer.Option(help="The folder the PNG files go into.")] = Path("figures"),
) -> None:
    """Draw what a recipe's table cannot show: measures over epochs, or over an option."""
    from deixis.cli.figures import figures_of, write_figures
    from deixis.recipes.recipe import Recipe

    for file in write_figures(figures_of(Recipe.load(recipe, overrides or []), runs), out):
        say(f"wrote {file}")
