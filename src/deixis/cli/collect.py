"""`deixis collect`: delete shards that nothing names any more."""

from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, LibraryPlace
from deixis.cli.shared.printing import print_json, say

HOURS = 24.0


@app.command()
def collect(
    library: LibraryPlace,
    hours: Annotated[
        float, typer.Option(help="Keep what is younger: readers may still need it.")
    ] = HOURS,
    as_json: Json = False,
) -> None:
    """Delete shards that a library of shards no longer names."""
    from deixis.scale.library_transfer import collect as delete

    gone = delete(library, hours)
    if as_json:
        print_json(gone)
    else:
        say(f"{library}: {len(gone)} objects deleted")
