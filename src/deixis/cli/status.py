"""`deixis status`: whether a library agrees with the disk."""

import json
from pathlib import Path

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, LibraryFolder
from deixis.cli.progress import say


@app.command()
def status(library: LibraryFolder = Path("library"), as_json: Json = False) -> None:
    """Compare disk, manifest and vectors, and name every file that cannot be found."""
    from deixis.search import verbs
    from deixis.search.status import status as compare

    found = compare(library)
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        say(f"{found.folder}: {found.items} pictures in {found.files} files; model {found.source}")
        for problem in found.problems:
            say(f"[yellow]{problem.kind}[/] {problem.path}: {problem.reason}")
    raise typer.Exit(verbs.exit_code(found))
