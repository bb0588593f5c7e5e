"""`deixis train`: one row of a recipe into a run folder."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.ending import leave_as_it_is
from deixis.cli.shared.options import Json, Overrides, RecipePath, Rehearse, Runs, Threads, Tiny
from deixis.cli.shared.printing import output, print_json, say
from deixis.cli.shared.progress import console


@app.command()
def train(
    recipe: RecipePath,
    overrides: Overrides = None,
    *,
    row: Annotated[str, typer.Option(help="The row's label; by default the first row.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
    runs: Runs = Path("runs"),
    tiny: Tiny = False,
    rehearse: Rehearse = False,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Train one row of a recipe; an interrupted run resumes.

    `torchrun --nproc-per-node N -m deixis train …` trains it with N processes or GPUs.
    """
    from deixis.cli.shared.recipe_bars import RecipeBars
    from deixis.recipes.recipe import Recipe
    from deixis.training.processes import joined_processes, leads

    loaded = Recipe.load(recipe, overrides or [], row=row, tiny=tiny, rehearse=rehearse)
    with joined_processes() as several, RecipeBars() as bars:
        console.quiet = output.quiet = not leads()
        done = loaded.train(row, seed, runs, bars)
    if as_json:
        print_json({"folder": done.folder, **done.metrics})
    else:
        rate = done.metrics["measures"][loaded.headline]
        say(f"{done.folder}  {loaded.headline.upper()} {rate:.1f}")
    if several:  # else Python's own ending meets threads of torch's at work, and some runs abort
        leave_as_it_is(0)
