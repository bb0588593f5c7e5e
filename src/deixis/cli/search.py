"""`deixis search`: pictures found by words or by another picture."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, LibraryFolder
from deixis.cli.progress import say


@app.command()
def search(
    text: Annotated[str | None, typer.Argument(help="What the picture shows.")] = None,
    image: Annotated[
        Path | None, typer.Option(help="Search by this picture instead of words.")
    ] = None,
    library: LibraryFolder = Path("library"),
    top: Annotated[int, typer.Option("--top", "-t", help="How many hits.")] = 10,
    where: Annotated[
        str | None, typer.Option(help="Which pictures, such as 'label:dog AND NOT path:old'.")
    ] = None,
    paths_only: Annotated[
        bool, typer.Option("--filepath-only", "-f", help="Print paths alone, for other tools.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search a library, best first."""
    from deixis.search import verbs
    from deixis.search.filters import parse_filter
    from deixis.search.query import Query

    condition = parse_filter(where) if where else None
    results = verbs.search(Query(text=text, image=image, k=top, where=condition), library)
    if as_json:
        print(json.dumps(results.to_dict(), indent=2))
    elif paths_only:
        for hit in results.hits:
            print(hit.paths[0])
    else:
        for hit in results.hits:
            more = f"  (+{len(hit.stack)} nearly the same)" if hit.stack else ""
            say(f"{hit.score:6.3f}  {hit.band:9}  {hit.paths[0]}{more}")
        for note in results.notes:
            say(f"[yellow]{note}[/]")
    raise typer.Exit(verbs.exit_code(results))
