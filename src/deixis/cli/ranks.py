"""`deixis ranks`: how matching pairs hold their ground both ways, run beside run."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from deixis.cli.app import app
from deixis.cli.options import Json, Threads
from deixis.cli.progress import Bars, output, say


@app.command()
def ranks(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders; without the seed's number, the mean of all its seeds."),
    ],
    drawing: Annotated[Path | None, typer.Option("--svg", help="Draw the counts here.")] = None,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Count matching pairs by cross-retrieval rank, 1 only where a pair wins both ways."""
    import torch

    from deixis.evaluation.cross_rank import cross_ranks, histogram
    from deixis.evaluation.evaluate import scores_of
    from deixis.evaluation.result import seeds_of
    from deixis.explain.bars import bars
    from deixis.features.files import write_atomic
    from deixis.methods.matcher import load
    from deixis.recipes.prepare import prepare_for

    torch.set_num_threads(threads)
    counts: dict[str, dict[str, int]] = {}
    with Bars() as shown:
        for run in runs:
            of_seeds = []
            for seed in seeds_of(run):
                matcher = load(seed)
                dataset = prepare_for(seed, matcher, "", "", shown.advance)
                scores = scores_of(matcher.model, dataset)
                of_seeds.append(histogram(cross_ranks(scores, dataset.corpus.pairs)))
            counts[run.name] = {
                name: round(sum(found[name] for found in of_seeds) / len(of_seeds))
                for name in of_seeds[0]
            }
    if drawing is not None:
        write_atomic(drawing, bars("Matching pairs by cross-retrieval rank", counts).encode())
    if as_json:
        print(json.dumps(counts, indent=2, ensure_ascii=False))
        return
    if drawing is not None:
        say(f"wrote {drawing}")
    table = Table(title="matching pairs by cross-retrieval rank", title_justify="left")
    for heading in ("", *next(iter(counts.values()))):
        table.add_column(heading, justify="right" if heading else "left")
    for name, run_counts in counts.items():
        table.add_row(name, *map(str, run_counts.values()))
    output.print(table)
