"""`deixis table`: train what is missing, print the table."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, Overrides, RecipePath, Runs, Threads, Tiny
from deixis.cli.progress import output


@app.command()
def table(
    recipe: RecipePath,
    overrides: Overrides = None,
    runs: Runs = Path("runs"),
    tiny: Tiny = False,
    form: Annotated[
        Literal["terminal", "markdown", "html", "json"], typer.Option("--format", help="How.")
    ] = "terminal",
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Train every row of a recipe that is not trained yet, and print ours beside the paper's."""
    from deixis.cli.figures import embedded, figure_of
    from deixis.cli.training import run_recipe

    loaded, report = run_recipe(recipe, overrides or [], runs, tiny=tiny, threads=threads)
    if as_json or form == "json":
        print(json.dumps(report.record(), indent=2))
    elif form == "terminal":
        output.print(report.terminal())
    elif form == "markdown":
        print(report.markdown())
    else:
        shown = (embedded(one.title, figure_of(loaded, one, runs)) for one in loaded.figures)
        print(report.html() + "".join(shown))
