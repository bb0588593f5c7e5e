"""`deixis pull`, `push` and `collect`: libraries between folders and buckets."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, LibraryPlace
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars

Remote = Annotated[str, typer.Argument(help="s3://BUCKET/PREFIX, or a folder of shards.")]
HOURS = 24.0


@app.command()
def pull(
    library: Remote,
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    as_json: Json = False,
) -> None:
    """Copy a library of shards into one folder, which search and serve open."""
    from deixis.scale.library_transfer import pull as copy

    with Bars() as bars:
        report = copy(library, folder, lambda done, total: bars.advance("shards", done, total))
    if as_json:
        print_json(asdict(report))
    else:
        say(f"{report.library}: {report.pictures} pictures of {report.shards} shards")


@app.command()
def push(
    folder: Annotated[Path, typer.Argument(help="A library's folder.")],
    library: Remote,
    as_json: Json = False,
) -> None:
    """Copy a library's folder into a bucket, where it replaces what was there."""
    from deixis.scale.library_transfer import push as copy

    report = copy(folder, library)
    if as_json:
        print_json(asdict(report))
    else:
        say(f"{report.library}: {report.pictures} pictures")


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
