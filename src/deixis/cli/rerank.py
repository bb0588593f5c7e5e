"""`deixis rerank`: a fast run ranks, a slow run re-ranks its top results; what that buys."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, Split, Threads
from deixis.cli.shared.printing import print_json, print_table
from deixis.cli.shared.progress import Bars


@app.command()
def rerank(
    fast: Annotated[Path, typer.Argument(help="The run that ranks every gallery.")],
    slow: Annotated[Path, typer.Argument(help="The run that re-ranks its top results.")],
    share: Annotated[
        list[float] | None,
        typer.Option(help="Share of the gallery to re-rank; may be given several times."),
    ] = None,
    top: Annotated[
        list[int] | None,
        typer.Option(help="How many to re-rank, for example 50; may be given several times."),
    ] = None,
    split: Split = "",
    threads: Threads = 1,
    as_json: Json = False,
) -> None:
    """Re-rank to several depths: recall both ways, CPU time per query and for the split."""
    from deixis.evaluation.reranking.rerank_sweep import sweep_runs
    from deixis.recipes.results.printed_table import COLUMNS, COSTS
    from deixis.runs.run import Run

    depths = [*(share or []), *map(float, top or [])]
    with Bars() as bars:
        lines = sweep_runs(Run(fast), Run(slow), depths, split, bars.advance)
    if as_json:
        print_json([asdict(line) for line in lines])
        return
    headings = ("", "complexity", *COSTS.values(), "pairs re-scored", *COLUMNS.values())
    rows = [
        (
            line.label,
            line.complexity or "–",
            f"{line.costs['query_ms']:.2f}",
            f"{line.whole:.2f}",
            f"{line.pairs}",
            *(f"{line.measures[key]:.1f}" for key in COLUMNS),
        )
        for line in lines
    ]
    print_table(f"{fast.name} ranks, {slow.name} re-ranks", headings, rows)
