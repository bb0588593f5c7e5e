"""`deixis ranks`: cross-retrieval ranks of matching pairs, by run."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, Split, Threads
from deixis.cli.shared.printing import print_json, print_table, say
from deixis.cli.shared.progress import Bars


@app.command()
def ranks(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders; leave out the seed's number for the mean of all seeds."),
    ],
    drawing: Annotated[
        Path | None, typer.Option("--svg", help="SVG file for a chart of the counts.")
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Average the scores of all runs: one count.")
    ] = False,
    split: Split = "",
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Count matching pairs by cross-retrieval rank: 1 if each is the other's best match."""
    from deixis.pages.figures.cross_rank_chart import count_cross_ranks

    with Bars() as bars:
        counts = count_cross_ranks(runs, split, drawing, bars.advance, together=together)
    if as_json:
        print_json(counts)
        return
    if drawing is not None:
        say(f"wrote {drawing}")
    headings = ("", *next(iter(counts.values())))
    rows = [(name, *map(str, of_run.values())) for name, of_run in counts.items()]
    print_table("matching pairs by cross-retrieval rank", headings, rows)
