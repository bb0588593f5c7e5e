"""`deixis explain`: what each word and place adds to a score."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import At, Json
from deixis.cli.shared.printing import print_json, say


@app.command()
def explain(
    model: Annotated[
        str,
        typer.Argument(
            metavar="LIBRARY_OR_RUN",
            help="A library, a run folder, deixis:photos, or hf:PATH of a CLIP or SigLIP.",
        ),
    ],
    picture: Annotated[Path, typer.Argument(help="A picture file.")],
    text: Annotated[str, typer.Argument(help="A text that may describe it.")],
    *,
    at: At = None,
    to: Annotated[
        Path | None, typer.Option(help="Also draw the explanation into this picture file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain a score: what each word of a text adds, and where in the picture it is."""
    from deixis.explanation.explain_file import explain_file, place_lines, stroke_lines
    from deixis.search.query.query import Query

    query = Query.of(text, at=at or ())
    found = explain_file(model, picture, query, to)
    if as_json:
        print_json(found.to_dict())
        return
    say(f"score {found.score:.3f}")
    for (start, end), share in zip(found.spans, found.words.tolist(), strict=True):
        say(f"  {share:+.3f}  {text[start:end]}")
    for line in [*stroke_lines(found, query), *place_lines(found, text)]:
        say(line)
    if to is not None:
        say(f"{to}")
