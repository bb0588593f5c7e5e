"""`deixis push`: a library's folder into a bucket."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, RemoteLibrary
from deixis.cli.shared.printing import print_json, say


@app.command()
def push(
    folder: Annotated[Path, typer.Argument(help="A library's folder.")],
    library: RemoteLibrary,
    as_json: Json = False,
) -> None:
    """Copy a library's folder into a bucket and replace the library there."""
    from deixis.scale.library_transfer import push as copy

    report = copy(folder, library)
    if as_json:
        print_json(asdict(report))
    else:
        say(f"{report.library}: {report.pictures} pictures")
