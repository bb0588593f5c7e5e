"""`deixis mine`: the negatives a trained model finds hardest, over its whole training split."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Cluster, Json, RunFolder, Threads
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars


@app.command()
def mine(
    run: RunFolder,
    *,
    texts: Annotated[int, typer.Option(min=0, help="Negatives kept for each image.")] = 300,
    images: Annotated[int, typer.Option(min=0, help="Negatives kept for each text.")] = 60,
    recall: Annotated[
        Path | None,
        typer.Option(
            help="A fast run that proposes five times as many candidates for this run to score."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Output folder for the lists; by default beside the run.")
    ] = None,
    cluster: Cluster = None,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Find the hardest negatives of every training image and text; continues where it stopped.

    On a cluster the lists are the same, but an interrupted pass starts over.
    """
    from deixis.data.batches.mined import OfflineSpec
    from deixis.runs.hard_negatives.mining import mine_to_disk
    from deixis.runs.run import Run
    from deixis.scale.mine_blocks import miner_at

    spec = OfflineSpec(texts=texts, images=images)
    fast = Run(recall) if recall else None
    with Bars() as bars:
        miner = miner_at(cluster, threads, bars.note)
        done = mine_to_disk(Run(run), spec, folder, fast, bars.advance, miner)
    if as_json:
        print_json(done.to_dict())
        return
    for key, value in done.to_dict().items():
        say(f"{key.replace('_', ' '):>15}  {value}")
