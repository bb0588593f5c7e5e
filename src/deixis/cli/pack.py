"""`deixis pack`: a finished run made small enough to ship."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import RunFolder
from deixis.cli.progress import Bars, say


@app.command()
def pack(
    run: RunFolder,
    to: Annotated[
        Path | None, typer.Option(help="Where to; by default it becomes the packaged model.")
    ] = None,
) -> None:
    """Write a run in eight bits with a bank of training texts and a card, and judge it so."""
    from deixis.recipes.pack import pack_run
    from deixis.search.opening import PACKAGED

    with Bars() as bars:
        packed = pack_run(run, to or PACKAGED, bars.advance)
    before, after = packed.trained["rsum"], packed.shipped["rsum"]
    say(f"{packed.folder}: {packed.megabytes:.1f} MB, RSUM {before:.1f} trained, {after:.1f} so")
