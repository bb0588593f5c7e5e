"""`deixis search`: pictures found by words, by words and a trace, or by another picture."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, LibraryFolder
from deixis.cli.progress import say
from deixis.errors import DataError


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
    told = _told(narration) if narration else {"text": text}
    results = verbs.search(Query(**told, image=image, k=top, where=condition), library)
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


def _told(file: Path) -> dict[str, Any]:
    """What was said and drawn, as a query takes it; the trace counts in full."""
    from deixis.data.narratives import read_narratives

    first = next(iter(read_narratives(file)), None)
    if first is None:
        raise DataError(f"{file} holds no narrative to search by")
    told = first.narration
    return {"text": told.text, "strokes": told.strokes, "words": told.words, "trace_weight": 1.0}
