"""`deixis search`: pictures found by words, by words and a trace, or by another picture."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.exit_codes import end
from deixis.cli.shared.options import At, Json, LibraryFolder
from deixis.cli.shared.printing import print_json, print_raw, say


@app.command()
def search(
    text: Annotated[str | None, typer.Argument(help="What the picture shows.")] = None,
    *,
    image: Annotated[
        Path | None, typer.Option(help="Search by this picture instead of words.")
    ] = None,
    narration: Annotated[
        Path | None,
        typer.Option(help="Search by the first Localized Narratives record of a file."),
    ] = None,
    at: At = None,
    library: LibraryFolder = Path("library"),
    top: Annotated[int, typer.Option("--top", "-t", min=1, help="How many hits.")] = 10,
    where: Annotated[
        str | None,
        typer.Option(help="Search only some pictures, for example 'label:dog AND NOT path:old'."),
    ] = None,
    paths_only: Annotated[
        bool, typer.Option("--filepath-only", "-f", help="Print only paths, for other tools.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search a library; prints the best hits first."""
    from deixis.search.library.library import Library
    from deixis.search.query.query import Query

    query = Query.of(text, image=image, narration=narration, at=at or (), k=top, where=where)
    results = Library(library).search(query)
    if as_json:
        print_json(results.to_dict())
    elif paths_only:
        for hit in results.hits:
            print_raw(hit.paths[0])
    else:
        for hit in results.hits:
            more = f"  (+{len(hit.stack)} nearly the same)" if hit.stack else ""
            say(f"{hit.score:6.3f}  {hit.band:9}  {hit.paths[0]}{more}")
        for note in results.notes:
            say(note.text, style="yellow")
    raise end(results)
