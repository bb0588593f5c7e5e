"""`deixis report`: the set embeddings of one run, or of several side by side."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, Split
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, shown side by side.")],
    out: Annotated[Path, typer.Option(help="Output folder for the page and its pictures.")] = Path(
        "report"
    ),
    pictures: Annotated[
        int, typer.Option(min=0, help="How many pictures to show for each run.")
    ] = 4,
    split: Split = "",
    as_json: Json = False,
) -> None:
    """Show what each slot attends to, how far sets spread, and which slots are unused."""
    from deixis.pages.set_report import report_sets
    from deixis.runs.run import Run

    with Bars() as bars:
        sets, page = report_sets([Run(run) for run in runs], out, pictures, bars.advance, split)
    if as_json:
        print_json({one.name: asdict(one.health) for one in sets})
        return
    say(f"wrote {page}")
