"""`deixis mine`: the negatives a trained model finds hardest, over its whole training split."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, RunFolder, Threads
from deixis.cli.progress import Bars, say


@app.command()
def mine(
    run: RunFolder,
    texts: Annotated[int, typer.Option(help="Negatives kept for each image.")] = 300,
    images: Annotated[int, typer.Option(help="Negatives kept for each text.")] = 60,
    recall: Annotated[
        Path | None,
        typer.Option(help="A fast run that recalls five times as many, which this run re-scores."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where the lists go; beside the run when left out.")
    ] = None,
    as_json: Json = False,
    threads: Threads = 2,
) -> None:
    """Keep the hardest negatives of every training image and text; an interrupted pass goes on."""
    import torch

    from deixis.data.offline import OfflineSpec
    from deixis.recipes.mine import mine_run, same_wording

    torch.set_num_threads(threads)
    folder = folder or run / f"negatives-{texts}-{images}"
    with Bars() as bars:
        spec = OfflineSpec(texts=texts, images=images)
        mined, corpus = mine_run(run, spec, folder, bars.advance, recall)
    record = {
        "folder": str(folder),
        "texts an image": mined.texts.shape[1],
        "images a text": mined.images.shape[1],
        "model": mined.source.model,
        "split": mined.source.split,
        "same wording": len(same_wording(mined, corpus)),
    }
    if as_json:
        print(json.dumps(record, indent=2))
        return
    for key, value in record.items():
        say(f"{key:>15}  {value}")
