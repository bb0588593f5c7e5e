"""`deixis train`: one row of a recipe into a run folder."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Overrides, RecipePath, Runs, Threads, Tiny
from deixis.cli.progress import say


@app.command()
def train(
    recipe: RecipePath,
    overrides: Overrides = None,
    row: Annotated[str, typer.Option(help="The row's label; the first row when left out.")] = "",
    seed: Annotated[int, typer.Option(help="Where randomness begins.")] = 0,
    runs: Runs = Path("runs"),
    tiny: Tiny = False,
    threads: Threads = 2,
) -> None:
    """Train one row of a recipe; an interrupted run goes on where it stopped."""
    import torch

    from deixis.cli.training import prepare_with_progress, run_one
    from deixis.recipes.judging import JUDGINGS
    from deixis.recipes.recipe import Recipe

    torch.set_num_threads(threads)
    loaded = Recipe.load(recipe, overrides or [])
    loaded = loaded.tiny() if tiny else loaded
    chosen = loaded.row(row) if row else loaded.rows[0]
    done = run_one(loaded, chosen, seed, prepare_with_progress(chosen.data), runs)
    headline = JUDGINGS[loaded.judge].headline
    say(f"{done.folder}  {headline.upper()} {done.result['measures'][headline]:.1f}")
