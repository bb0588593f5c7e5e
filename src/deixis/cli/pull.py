"""`deixis pull`: a library of shards into one folder."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, RemoteLibrary
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars


@app.command()
def pull(
    library: RemoteLibrary,
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    as_json: Json = False,
) -> None:
    """Copy a sharded library into one folder, for search and serve."""
    from deixis.scale.library_transfer import pull as copy

    with Bars() as bars:
        report = copy(library, folder, lambda done, total: bars.advance("shards", done, total))
    if as_json:
        print_json(asdict(report))
    else:
        say(f"{report.library}: {report.pictures} pictures of {report.shards} shards")
