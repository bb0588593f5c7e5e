"""`deixis cost`: what scoring with one run costs compared with another."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, Split, Threads
from deixis.cli.shared.printing import print_json, print_table
from deixis.cli.shared.progress import Bars


@app.command()
def cost(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders; costs are relative to the first.")
    ],
    repeats: Annotated[int, typer.Option(min=1, help="How often each is timed.")] = 3,
    split: Split = "",
    threads: Threads = 1,
    as_json: Json = False,
) -> None:
    """Measure FLOPs and time of scoring a split and finding the best 10 of each side.

    Embedding is not counted: a gallery is embedded once and searched often.
    """
    from deixis.evaluation.probes.scoring_cost import run_costs
    from deixis.runs.run import Run

    with Bars() as bars:
        costs = run_costs([Run(run) for run in runs], split, repeats, bars.advance)
    if as_json:
        print_json({name: asdict(found) for name, found in costs.items()})
        return
    first = next(iter(costs.values()))
    rows = []
    for name, found in costs.items():
        flops, seconds = (f"{ratio:.1f} ×" for ratio in found.relative_to(first))
        counted = f"{found.pairs}", f"{found.flops / 1e6:.1f}"
        rows.append((Path(name).name, *counted, flops, f"{1000 * found.seconds:.1f}", seconds))
    headings = ("run", "pairs", "MFLOP", "relative to the first", "ms", "relative to the first")
    print_table("Scoring and the best 10 of each side", headings, rows)
