"""`deixis verify`: whether a library's bytes are those that were written."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.exit_codes import end
from deixis.cli.shared.options import Json, LibraryFolder
from deixis.cli.shared.printing import print_json, say


@app.command()
def verify(
    library: LibraryFolder = Path("library"),
    repair: Annotated[
        bool, typer.Option(help="Compute damaged parts again from the pictures.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Compare a library with its checksums; list damaged ranges and repair what can be repaired."""
    from deixis.search.encoders.load_encoder import load_encoder
    from deixis.search.library.verification import verify as compare

    found = compare(library, load_encoder if repair else None)
    if as_json:
        print_json(found.to_dict())
    else:
        for damage in found.damages:
            mark = "repaired" if damage.repaired else "damaged"
            say(f"{damage.file} bytes {damage.start} to {damage.end}: {damage.reason}", mark=mark)
        for note in found.notes:
            say(note, style="yellow")
        say(
            f"{found.folder}: {found.compared} of {found.pictures} pictures compared, "
            f"{len(found.damages)} damaged ranges"
        )
    raise end(found)
