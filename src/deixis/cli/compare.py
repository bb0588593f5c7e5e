"""`deixis compare`: whether one run is better than another, or luckier."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from deixis.cli.app import app
from deixis.cli.options import Json
from deixis.cli.progress import Bars, output, say


@app.command()
def compare(
    first: Annotated[
        Path, typer.Argument(help="A run folder; without the seed's number, all its seeds.")
    ],
    second: Annotated[Path, typer.Argument(help="Another, judged on the same split.")],
    seed: Annotated[int, typer.Option(help="Of the bootstrap's draws.")] = 0,
    page: Annotated[
        Path | None, typer.Option("--html", help="Write a page of queries won and lost here.")
    ] = None,
    control: Annotated[
        str, typer.Option(help='What the traces of the first run suffer, such as "no trace".')
    ] = "",
    as_json: Json = False,
) -> None:
    """Pair two runs query by query: differences with 95 % intervals from a paired bootstrap."""
    from deixis.evaluation.result import RunRanks, seeds_of
    from deixis.evaluation.significance import compare_seeds

    if control:
        from deixis.recipes.controlled import controlled_ranks

        with Bars() as bars:
            ours = [controlled_ranks(run, control, bars.advance) for run in seeds_of(first)]
    else:
        ours = [RunRanks.load(run) for run in seeds_of(first)]
    differences = compare_seeds(ours, [RunRanks.load(run) for run in seeds_of(second)], seed)
    if page is not None:
        from deixis.recipes.sidebyside import write_page

        with Bars() as bars:
            write_page(page, seeds_of(first)[0], seeds_of(second)[0], bars.advance)
    if as_json:
        print(json.dumps([asdict(d) | {"difference": d.difference} for d in differences], indent=2))
        return
    if page is not None:
        say(f"wrote {page}")
    table = Table(title=f"{first} − {second}", title_justify="left")
    for heading in ("measure", "first", "second", "difference", "95 % interval", "p"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for d in differences:
        interval = f"{d.low:+.2f} … {d.high:+.2f}"
        cells = (f"{d.first:.1f}", f"{d.second:.1f}", f"{d.difference:+.2f}", interval)
        table.add_row(d.measure.replace("_hit@", " R@"), *cells, f"{d.p:.4f}")
    output.print(table)
