"""`deixis index`: a folder of pictures becomes a library."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, LibraryFolder
from deixis.cli.progress import Bars, say


@app.command()
def index(
    paths: Annotated[list[Path], typer.Argument(help="Pictures, or folders of them.")],
    library: LibraryFolder = Path("library"),
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="A run folder, or hf:PATH of a CLIP or SigLIP; by default the library's own, "
            "and the model for photographs where there is none yet.",
        ),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Encode everything again, with another model.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring a library in line with folders of pictures: add, change, rename, remove."""
    from deixis.search import verbs

    with Bars() as bars:
        report = verbs.index(
            paths,
            library,
            model,
            rebuild,
            on_file=lambda outcome, done, total: bars.advance("indexing", done, total),
        )
    if as_json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        for outcome in report.broken:
            say(f"[yellow]broken[/] {outcome.path}: {outcome.reason}")
        counts = ", ".join(f"{count} {kind}" for kind, count in report.counts.items())
        say(f"{library}: {counts or 'no pictures found'}; {report.encoded} encoded")
    raise typer.Exit(verbs.exit_code(report))
