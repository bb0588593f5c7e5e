"""`deixis evaluate`: a run on a split, under the bench's protocol."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, RunFolder, Threads
from deixis.cli.progress import Bars, output


@app.command()
def evaluate(
    run: RunFolder,
    corpus: Annotated[
        str, typer.Option(help="A corpus; the run's own when left out, 'scenes' the embedded one.")
    ] = "",
    split: Annotated[str, typer.Option(help="Which split to rank; the run's own test split.")] = "",
    folds: Annotated[int, typer.Option(help="Average over so many folds, as COCO 1K does.")] = 1,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Rank every text for every image of a split and back; ties count against the system."""
    import torch

    from deixis.evaluation.evaluate import judge, judge_folds, scores_of
    from deixis.methods.matcher import load
    from deixis.recipes.prepare import prepare_for
    from deixis.recipes.table import Line, Report

    torch.set_num_threads(threads)
    matcher = load(Path(run))
    with Bars() as bars:
        dataset = prepare_for(Path(run), matcher, corpus, split, bars.advance)
    scores = scores_of(matcher.model, dataset)
    corpus_judged = dataset.corpus
    result = (
        judge(scores, corpus_judged) if folds == 1 else judge_folds(scores, corpus_judged, folds)
    )
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
        return
    sizes = f"{result.gallery['t2i']} images, {result.gallery['i2t']} texts"
    note = f"{result.protocol}; {sizes}; split {result.split_sha}; ties {result.tie_rule}"
    output.print(Report(str(run), "", note, (Line("this run", (result.measures,), {}),)).terminal())
