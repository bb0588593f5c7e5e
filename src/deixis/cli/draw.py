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
    out: Annotated[Path, typer.Option(help="Output folder.")] = Path("figures"),
    form: Annotated[
        Literal["png", "svg", "pdf"],
        typer.Option("--format", help="SVG adapts to the light or dark theme of a page."),
    ] = "png",
    as_json: Json = False,
) -> None:
    """Draw the figures of a recipe; those whose runs are not finished are left out."""
    from deixis.pages.figures.recipe_figures import draw_figures
    from deixis.recipes.recipe import Recipe

    made = draw_figures(Recipe.load(recipe, overrides or []), runs, out, form)
    if as_json:
        print_json(made)
        return
    for title, result in made.items():
        say(f"wrote {result}" if isinstance(result, Path) else f"left out “{title}”: {result}")
