"""`deixis evaluate`: a run on a split, under a named protocol."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, RunFolder, Threads
from deixis.cli.shared.printing import output, print_json, say
from deixis.cli.shared.progress import Bars
from deixis.evaluation.protocol_names import ABOUT, ProtocolName


@app.command()
def evaluate(
    run: RunFolder,
    corpus: Annotated[
        str,
        typer.Option(help="A corpus, or 'scenes' for simulated ones; by default the run's own."),
    ] = "",
    *,
    split: Annotated[
        str, typer.Option(help="The split to rank; by default the run's own test split.")
    ] = "",
    protocol: Annotated[
        Literal[ProtocolName, "places", "entailment"],
        typer.Option(
            help="; ".join(f"{name}: {what}" for name, what in ABOUT.items())
            + "; places: recall when phrases are pointed at, with controls; for a run without a "
            "place head, the pointing game with its own maps"
            + "; entailment: how often a true sentence scores above a contradicted one."
        ),
    ] = "whole",
    places: Annotated[
        Path | None,
        typer.Option(help="With --protocol places: the run with the place head, if not this one."),
    ] = None,
    sentences: Annotated[
        str,
        typer.Option(
            help="With --protocol entailment: a file of judged sentences, if not the "
            "hard_text.jsonl beside the corpus."
        ),
    ] = "",
    against: Annotated[
        Path | None,
        typer.Option(
            help="With --protocol entailment: a second run to compare with, paired over images."
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            help="With --protocol places and a run without a place head: a PNG file that shows "
            "eight phrases, the boxes people drew and the run's maps."
        ),
    ] = None,
    trec: Annotated[
        Path | None,
        typer.Option(help="Output folder for rankings and judgements as TREC run and qrels files."),
    ] = None,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Evaluate a run on a split, in both directions; ties count against the system."""
    from deixis.pages.judged_run import JudgeOptions, judge_run

    asked = JudgeOptions(protocol, split, corpus, trec, places, to, sentences, against)
    with Bars() as bars:
        found = judge_run(run, asked, bars.advance)
    if as_json:
        print_json(found.record)
        return
    for line in found.lines:
        say(line)
    if found.table is not None:
        output.print(found.table)
