"""`deixis report`: what the sets of one run, or of several, look like."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json
from deixis.cli.progress import Bars, say


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, shown side by side.")],
    out: Annotated[Path, typer.Option(help="Where the page and its pictures go.")] = Path("report"),
    pictures: Annotated[int, typer.Option(help="How many pictures of each run to show.")] = 4,
    as_json: Json = False,
) -> None:
    """Show what each slot looks at and means, how far sets spread, and which slots idle."""
    from deixis.explain.report import Subject, judge, write_report
    from deixis.methods.matcher import load
    from deixis.recipes.prepare import prepare_for

    judged = []
    with Bars() as bars:
        for run in runs:
            matcher = load(run)
            dataset = prepare_for(run, matcher, "", "", bars.advance)
            judged.append(judge(Subject(run.name, matcher.model, dataset)))
    page = write_report(judged, out, pictures)
    if as_json:
        print(json.dumps({sets.subject.name: asdict(sets.health) for sets in judged}, indent=2))
        return
    say(f"wrote {page}")
