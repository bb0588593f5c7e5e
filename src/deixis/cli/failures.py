"""`deixis failures`: the wrong hits of a run judged by labels."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, RunFolder, Split
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars


@app.command()
def failures(
    run: RunFolder,
    page: Annotated[Path, typer.Option("--html", help="Output file.")] = Path("failures.html"),
    super_classes: Annotated[
        list[str] | None,
        typer.Option(
            "--super-class",
            help='Labels of one super-class, such as "man|woman|boy"; may be repeated.',
        ),
    ] = None,
    split: Split = "",
    as_json: Json = False,
) -> None:
    """Show queries whose first hits share no label with them, and what kind of error each is."""
    from deixis.pages.label_failures import write_failures
    from deixis.runs.run import Run

    with Bars() as bars:
        sections = write_failures(page, Run(run), super_classes or [], bars.advance, split)
    if as_json:
        print_json([section.to_dict() for section in sections])
        return
    say(f"wrote {page}")
