"""`deixis evaluate`: a run on a split, under a named protocol."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, RunFolder, Threads
from deixis.cli.progress import Bars, output, say


@app.command()
def evaluate(
    run: RunFolder,
    corpus: Annotated[
        str, typer.Option(help="A corpus; the run's own when left out, 'scenes' the embedded one.")
    ] = "",
    split: Annotated[str, typer.Option(help="Which split to rank; the run's own test split.")] = "",
    protocol: Annotated[
        Literal["whole", "folds", "coco", "labels", "label-folds"],
        typer.Option(
            help="The whole split; the mean of five folds; COCO 1K, 5K, CxC and ECCV Caption, for "
            "a corpus that is COCO's test split; or either of the first two by shared labels."
        ),
    ] = "whole",
    trec: Annotated[
        Path | None,
        typer.Option(help="A folder for the rankings and judgements as TREC run and qrels files."),
    ] = None,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Rank every text for every image of a split and back; ties count against the system."""
    import torch

    from deixis.evaluation.coco import CocoTest
    from deixis.evaluation.evaluate import judge, judge_folds, scores_of
    from deixis.evaluation.labelled import evaluate_label_folds, evaluate_labels
    from deixis.evaluation.trec import write_trec
    from deixis.methods.matcher import load
    from deixis.recipes.prepare import prepare_for
    from deixis.recipes.table import Line, Report

    torch.set_num_threads(threads)
    matcher = load(Path(run))
    with Bars() as bars:
        dataset = prepare_for(Path(run), matcher, corpus, split, bars.advance)
    model = matcher.model
    if trec:
        written = write_trec(trec, scores_of(model, dataset), dataset.corpus)
        say("wrote " + ", ".join(map(str, written)))
    if protocol in ("labels", "label-folds"):
        one = (evaluate_labels if protocol == "labels" else evaluate_label_folds)(model, dataset)
        results = {one.protocol: one}
    elif protocol == "coco":
        results = CocoTest.load().judge_corpus(scores_of(model, dataset), dataset.corpus)
    else:
        by = judge if protocol == "whole" else judge_folds
        one = by(scores_of(model, dataset), dataset.corpus)
        results = {one.protocol: one}
    if as_json:
        print(json.dumps({name: result.to_dict() for name, result in results.items()}, indent=2))
        return
    first = next(iter(results.values()))
    sizes = f"{first.gallery['t2i']} images, {first.gallery['i2t']} texts"
    lines = tuple(Line(name, (result.measures,), {}) for name, result in results.items())
    note = f"{sizes}; split {first.split_sha}; ties {first.tie_rule}"
    output.print(Report(str(run), "", note, lines).terminal())
