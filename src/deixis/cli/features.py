"""`deixis features`: extract the features of a corpus once, before anything is trained."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.exit_codes import end
from deixis.cli.shared.options import Cluster, Json
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars


@app.command()
def features(
    corpus: Annotated[Path, typer.Argument(help="A corpus, in any known format.")],
    image: Annotated[
        str, typer.Option(help="lite0, lite2, hf:PATH; lite0:both and lite0+lite2 work too.")
    ] = "lite0",
    text: Annotated[str, typer.Option(help="minilm or hf:PATH; by default no texts.")] = "",
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Extract features into the cache; continues where it stopped. Exit code 3: some failed."""
    from deixis.data.corpus_features import extract_corpus
    from deixis.data.read_corpus import read_corpus
    from deixis.scale.extract_blocks import extraction_at

    with Bars() as bars:
        extracted = extract_corpus(
            read_corpus(corpus),
            image,
            text,
            lambda what: partial(bars.advance, what),
            extraction_at(cluster, bars.note),
        )
    if as_json:
        print_json(extracted.to_dict())
    else:
        for file, reason in extracted.broken.items():
            say(f"{file}: {reason}", mark="broken")
        say(f"{image}: {extracted.images} images ok, {len(extracted.broken)} broken")
        if text:
            say(f"{text}: {extracted.texts} texts ok")
    raise end(extracted)
