"""`deixis data`: look at corpora, and draw the embedded one."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json
from deixis.cli.progress import Bars, say

data = typer.Typer(help="Look at corpora, and draw the embedded one.", no_args_is_help=True)
app.add_typer(data, name="data")


@data.command()
def scenes(
    folder: Annotated[Path, typer.Argument(help="Where the corpus is written.")],
    images: Annotated[int, typer.Option(help="Pictures to draw.")] = 1600,
    seed: Annotated[int, typer.Option(help="The same seed draws the same scenes.")] = 0,
) -> None:
    """Draw simulated narrated scenes: pictures, captions, labels, regions, traces."""
    from deixis.data.scenes.write import write_scenes

    with Bars() as bars:
        write_scenes(
            folder,
            images=images,
            seed=seed,
            progress=lambda done, total: bars.advance("drawing simulated scenes", done, total),
        )
    print(folder)


@data.command()
def info(
    corpus: Annotated[Path, typer.Argument(help="A corpus, in any known format.")],
    as_json: Json = False,
) -> None:
    """Say what a corpus holds."""
    from deixis.data.read import read_corpus

    found = read_corpus(corpus)
    record = {
        "name": found.name,
        "images": len(found.files),
        "texts": len(found.texts),
        "pairs": len(found.pairs),
        "narrations": len(found.narrations),
        "labels": len(found.label_names),
        "splits": {name: found.splits.count(name) for name in sorted(set(found.splits))},
    }
    if as_json:
        print(json.dumps(record, indent=2))
        return
    for key, value in record.items():
        say(f"{key:>11}  {value}")
