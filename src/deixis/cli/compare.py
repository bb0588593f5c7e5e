"""`deixis compare`: whether one run is significantly better than another."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json
from deixis.cli.shared.printing import print_json, print_table, say
from deixis.cli.shared.progress import Bars


@app.command()
def compare(
    first: Annotated[
        Path, typer.Argument(help="A run folder; leave out the seed's number for all seeds.")
    ],
    second: Annotated[
        Path, typer.Argument(help="Another run folder, evaluated on the same split.")
    ],
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the bootstrap.")] = 0,
    page: Annotated[
        Path | None, typer.Option("--html", help="HTML file for the queries won and lost.")
    ] = None,
    control: Annotated[
        str,
        typer.Option(help='Perturbation applied to the first run\'s traces, such as "no trace".'),
    ] = "",
    as_json: Json = False,
) -> None:
    """Compare two runs query by query: differences with 95 % intervals from a paired bootstrap."""
    from deixis.pages.run_comparison import compare_on_page

    with Bars() as bars:
        found = compare_on_page(
            first, second, page, seed=seed, control=control, advance=bars.advance
        )
    if as_json:
        print_json([asdict(d) | {"difference": d.difference} for d in found])
        return
    if page is not None:
        say(f"wrote {page}")
    headings = ("measure", "first", "second", "difference", "95 % interval", "p")
    rows = [
        (
            d.measure.replace("_hit@", " R@"),
            f"{d.first:.1f}",
            f"{d.second:.1f}",
            f"{d.difference:+.2f}",
            f"{d.low:+.2f} … {d.high:+.2f}",
            f"{d.p:.4f}",
        )
        for d in found
    ]
    print_table(f"{first} − {second}", headings, rows)
