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
        str, typer.Option(help="A corpus; the run's own when left out, 'scenes' the embedded one.")
    ] = "",
    *,
    split: Annotated[str, typer.Option(help="Which split to rank; the run's own test split.")] = "",
    protocol: Annotated[
        Literal[ProtocolName, "places", "entailment"],
        typer.Option(
            help="; ".join(f"{name}: {what}" for name, what in ABOUT.items())
            + "; places: texts whose phrases are pointed at, with every control, or, of a run "
            "without a place head, the pointing game by its own maps"
            + "; entailment: sentences true of an image above those that contradict it."
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
        typer.Option(help="With --protocol entailment: a run to subtract, paired over images."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            help="With --protocol places, of a run without a place head: a PNG file for eight "
            "phrases, their human boxes and their maps."
        ),
    ] = None,
    trec: Annotated[
        Path | None,
        typer.Option(help="A folder for the rankings and judgements as TREC run and qrels files."),
    ] = None,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Rank every text for every image of a split and back; ties count against the system."""
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
