"""`deixis draw`: a recipe's figures from its finished runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, Overrides, RecipePath, Runs
from deixis.cli.shared.printing import print_json, say


@app.command()
def draw(
    recipe: RecipePath,
    overrides: Overrides = None,
    runs: Runs = Path("runs"),
    out: Annotated[Path, typer.Option(help="The folder the figures go into.")] = Path("figures"),
    form: Annotated[
        Literal["png", "svg", "pdf"],
        typer.Option("--format", help="SVG follows a page's light or dark setting."),
    ] = "png",
    as_json: Json = False,
) -> None:
    """Draw what a recipe's table cannot show; figures whose runs are unfinished are left out."""
    from deixis.pages.figures.recipe_figures import draw_figures
    from deixis.recipes.recipe import Recipe

    made = draw_figures(Recipe.load(recipe, overrides or []), runs, out, form)
    if as_json:
        print_json(made)
        return
    for title, result in made.items():
        say(f"wrote {result}" if isinstance(result, Path) else f"left out “{title}”: {result}")
