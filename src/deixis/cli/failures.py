"""`deixis failures`: what a run finds wrongly, where labels judge."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import RunFolder
from deixis.cli.progress import Bars, say


@app.command()
def failures(
    run: RunFolder,
    page: Annotated[Path, typer.Option("--html", help="The page to write.")] = Path(
        "failures.html"
    ),
    kin: Annotated[
        list[str] | None,
        typer.Option(help='Labels of one super-class, such as "man|woman|boy"; may be repeated.'),
    ] = None,
) -> None:
    """Show queries whose first hits share no label, and why as far as labels tell."""
    from deixis.recipes.failures import write_failures

    with Bars() as bars:
        write_failures(page, run, kin or [], bars.advance)
    say(f"wrote {page}")
