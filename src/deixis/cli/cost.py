"""`deixis cost`: what scoring with one run costs beside another."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from deixis.cli.app import app
from deixis.cli.options import Json, Threads
from deixis.cli.progress import Bars, output


@app.command()
def cost(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; the first is the measure.")],
    repeats: Annotated[int, typer.Option(help="How often each is timed.")] = 3,
    threads: Threads = 1,
    as_json: Json = False,
) -> None:
    """Score the split each run was judged on and find the best 10 of each side: FLOPs and time.

    Embedding is not counted: a gallery is embedded once and searched often.
    """
    import torch

    from deixis.evaluation.cost import Scoring, measure_costs
    from deixis.evaluation.encode import encode
    from deixis.methods.matcher import load
    from deixis.recipes.prepare import prepare_for

    torch.set_num_threads(threads)
    scorings = {}
    with Bars() as bars:
        for run in runs:
            matcher = load(run)
            embedded = encode(matcher.model, prepare_for(run, matcher, "", "", bars.advance))
            scorings[str(run)] = Scoring(matcher.model.similarity, *embedded)
    costs = measure_costs(scorings, repeats)
    if as_json:
        print(json.dumps({name: asdict(found) for name, found in costs.items()}, indent=2))
        return
    table = Table(title="Scoring and the best 10 of each side", title_justify="left")
    for heading in ("run", "pairs", "MFLOP", "beside the first", "ms", "beside the first"):
        table.add_column(heading, justify="left" if heading == "run" else "right")
    first = costs[str(runs[0])]
    for name, found in costs.items():
        table.add_row(
            Path(name).name,
            f"{found.pairs}",
            f"{found.flops / 1e6:.1f}",
            f"{found.flops / first.flops:.1f} ×",
            f"{1000 * found.seconds:.1f}",
            f"{found.seconds / first.seconds:.1f} ×",
        )
    output.print(table)
