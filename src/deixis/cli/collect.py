"""`deixis collect`: delete shards that are no longer used."""

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
        float, typer.Option(help="Keep shards younger than this, which may still be in use.")
    ] = HOURS,
    as_json: Json = False,
) -> None:
    """Delete shards that a sharded library no longer uses."""
    from deixis.scale.library_transfer import collect as delete

    gone = delete(library, hours)
    if as_json:
        print_json(gone)
    else:
        say(f"{library}: {len(gone)} objects deleted")
