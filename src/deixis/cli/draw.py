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
    """Draw what a recipe's table cannot show; figures whose runs are unfinished are left out."""
    from deixis.cli.figures import figure_of, write_figure
    from deixis.errors import RunError
    from deixis.recipes.recipe import Recipe

    loaded = Recipe.load(recipe, overrides or [])
    for figure in loaded.figures:
        try:
            file = write_figure(figure.title, figure_of(loaded, figure, runs), out)
        except RunError as error:
            say(f"left out “{figure.title}”: {error}")
        else:
            say(f"wrote {file}")
