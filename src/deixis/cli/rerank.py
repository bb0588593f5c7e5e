"""`deixis rerank`: a fast run ranks, a slow run orders the best of it anew; what that buys."""

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
def rerank(
    fast: Annotated[Path, typer.Argument(help="The run that ranks every gallery.")],
    slow: Annotated[Path, typer.Argument(help="The run that orders the best of it anew.")],
    share: Annotated[
        list[float] | None, typer.Option(help="Shares to re-rank; may be given several times.")
    ] = None,
    top: Annotated[
        list[int] | None, typer.Option(help="Numbers to re-rank, such as the best 50.")
    ] = None,
    threads: Threads = 1,
    as_json: Json = False,
) -> None:
    """Sweep over the depth re-ranked: recall both ways, CPU time of a query and of the split."""
    import torch

    from deixis.evaluation.cost import Scoring
    from deixis.evaluation.encode import encode
    from deixis.evaluation.sweep import sweep
    from deixis.methods.matcher import load
    from deixis.recipes.prepare import prepare_for
    from deixis.recipes.table import COLUMNS, COSTS

    torch.set_num_threads(threads)
    scorings: list[Scoring] = []
    with Bars() as bars:
        for run in (fast, slow):
            matcher = load(run)
            dataset = prepare_for(run, matcher, "", "", bars.advance)
            scorings.append(Scoring(matcher.model.similarity, *encode(matcher.model, dataset)))
    depths = [*(share or []), *map(float, top or [])] or [0.02, 0.05, 0.1, 0.2]
    lines = sweep(scorings[0], scorings[1], depths, dataset.corpus)
    if as_json:
        print(json.dumps([asdict(line) for line in lines], indent=2))
        return
    table = Table(title=f"{fast.name} ranks, {slow.name} re-ranks", title_justify="left")
    for heading in ("", "complexity", *COSTS.values(), "pairs re-scored", *COLUMNS.values()):
        table.add_column(heading, justify="right" if heading else "left")
    for line in lines:
        price = (f"{line.costs['query_ms']:.2f}", f"{line.whole:.2f}", f"{line.pairs}")
        recalls = (f"{line.measures[key]:.1f}" for key in COLUMNS)
        table.add_row(line.label, line.complexity or "–", *price, *recalls)
    output.print(table)
