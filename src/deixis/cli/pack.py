"""`deixis pack`: a finished run made small enough to ship."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, RunFolder
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars


@app.command()
def pack(
    run: RunFolder,
    to: Annotated[
        Path | None, typer.Option(help="Output folder; by default it becomes the packaged model.")
    ] = None,
    places: Annotated[
        Path | None, typer.Option(help="A run of method 'places'; its place head is packed, too.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run in eight bits with a bank of training texts; evaluate it and write its card."""
    from deixis.recipes.packing.ship_run import ship_run
    from deixis.runs.run import Run

    with Bars() as bars:
        packed = ship_run(Run(run), to, Run(places) if places else None, bars.advance)
    if as_json:
        print_json(asdict(packed))
        return
    before, after = packed.trained["rsum"], packed.shipped["rsum"]
    say(f"{packed.folder}: {packed.megabytes:.1f} MB, RSUM {before:.1f}, packed {after:.1f}")
