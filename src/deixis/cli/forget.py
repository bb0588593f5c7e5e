"""`deixis forget`: take folders or pictures out of a library."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, LibraryFolder
from deixis.cli.shared.printing import print_json, say


@app.command()
def forget(
    paths: Annotated[list[str], typer.Argument(help="Folders or pictures that were indexed.")],
    library: LibraryFolder = Path("library"),
    as_json: Json = False,
) -> None:
    """Take folders or pictures out of a library again; the files themselves stay."""
    from deixis.search.library.library import Library

    found = Library(library).forget(*paths)
    if as_json:
        print_json(found.to_dict())
        return
    say(f"{library}: files forgotten: {found.files}, left: {found.left}")
