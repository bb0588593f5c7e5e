"""`deixis table`: train what is missing, print the table."""

import json
from pathlib import Path

from deixis.cli.app import app
from deixis.cli.options import Json, Overrides, RecipePath, Runs, Threads, Tiny
from deixis.cli.progress import output


@app.command()
def table(
    recipe: RecipePath,
    overrides: Overrides = None,
    runs: Runs = Path("runs"),
    tiny: Tiny = False,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Train every row of a recipe that is not trained yet, and print ours beside the paper's."""
    from deixis.cli.training import run_recipe
    from deixis.recipes.table import table_record, terminal_table

    loaded, lines = run_recipe(recipe, overrides or [], runs, tiny=tiny, threads=threads)
    if as_json:
        print(json.dumps(table_record(loaded, lines), indent=2))
    else:
        output.print(terminal_table(loaded, lines))
