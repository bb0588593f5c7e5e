"""`deixis table`: train what is missing, print the table."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, Overrides, RecipePath, Rehearse, Runs, Threads, Tiny
from deixis.cli.shared.printing import output, print_json


@app.command()
def table(
    recipe: RecipePath,
    overrides: Overrides = None,
    *,
    runs: Runs = Path("runs"),
    tiny: Tiny = False,
    rehearse: Rehearse = False,
    form: Annotated[
        Literal["terminal", "markdown", "html", "json"],
        typer.Option("--format", help="Output format."),
    ] = "terminal",
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Train every row of a recipe that is not trained yet, and print the table.

    With --rehearse every row takes two steps with a narrow model on the first images of each split:
    what would stop a long run on your copy of a corpus shows in minutes.
    """
    from deixis.cli.shared.recipe_bars import RecipeBars
    from deixis.recipes.recipe import Recipe

    loaded = Recipe.load(recipe, overrides or [], tiny=tiny, rehearse=rehearse)
    with RecipeBars() as bars:
        report = loaded.run(runs, bars)
    if as_json or form == "json":
        print_json(report.record())
    elif form == "terminal":
        output.print(report.terminal())
    elif form == "markdown":
        print(report.markdown())
    else:
        from deixis.pages.table_page import recipe_page

        print(recipe_page(loaded, report, runs))
