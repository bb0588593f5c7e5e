"""`deixis attention`: attention and gates of a local model over pictures and words."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json, RunFolder
from deixis.cli.shared.printing import print_json, say


@app.command()
def attention(
    run: RunFolder,
    pairs: Annotated[
        list[str],
        typer.Argument(help="PICTURE TEXT, once or more; several pairs are also drawn swapped."),
    ],
    to: Annotated[Path, typer.Option(help="Output folder for the page and the drawings.")] = Path(
        "attention"
    ),
    as_json: Json = False,
) -> None:
    """Draw which regions each word attends to, and the other way round, as PNG and HTML."""
    from deixis.pages.attention_page import draw_attention
    from deixis.runs.run import Run

    views, page = draw_attention(Run(run), pairs, to)
    if as_json:
        print_json([view.to_dict() for view in views])
        return
    for view in views:
        kind = "as given" if view.given else "swapped"
        say(f"{kind}  score {view.score:.3f}  {view.picture.name}  {view.text}")
    say(f"wrote {page}")
