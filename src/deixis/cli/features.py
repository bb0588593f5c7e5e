"""`deixis features`: extract the features of a corpus once, before anything is trained."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json
from deixis.cli.progress import Bars, say

LOOK = 3  # the exit code that says: done, and there is something to look at


@app.command()
def features(
    corpus: Annotated[Path, typer.Argument(help="A corpus, in any known format.")],
    image: Annotated[
        str, typer.Option(help="lite0, lite2, hf:PATH; lite0:both and lite0+lite2 work too.")
    ] = "lite0",
    text: Annotated[str, typer.Option(help="minilm or hf:PATH; left out: no texts.")] = "",
    as_json: Json = False,
) -> None:
    """Extract features into the cache; goes on where it was stopped. Exit code 3: some broke."""
    from deixis.data.extracting import extract_corpus
    from deixis.data.read import read_corpus

    with Bars() as bars:
        extracted = extract_corpus(
            read_corpus(corpus), image, text, lambda what: partial(bars.advance, what)
        )
    if as_json:
        print(json.dumps(extracted.to_dict(), indent=2))
    else:
        for file, reason in extracted.broken.items():
            say(f"[yellow]broken[/] {file}: {reason}")
        say(f"{image}: {extracted.images} images ok, {len(extracted.broken)} broken")
        if text:
            say(f"{text}: {extracted.texts} texts ok")
    raise typer.Exit(LOOK if extracted.broken else 0)
