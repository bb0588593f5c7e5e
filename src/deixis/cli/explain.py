"""`deixis explain`: what a picture and a text found in each other."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Json, RunFolder
from deixis.cli.progress import say
from deixis.errors import DataError


@app.command()
def explain(
    run: RunFolder,
    pairs: Annotated[
        list[str], typer.Argument(help="A picture and its text; several pairs are also swapped.")
    ],
    to: Annotated[Path, typer.Option(help="Where the page and the drawings go.")] = Path("sight"),
    as_json: Json = False,
) -> None:
    """Draw attention and gates over pictures and beside words, as PNG and HTML."""
    from deixis.explain.draw import sheet
    from deixis.explain.page import page
    from deixis.explain.sight import see_swapped
    from deixis.features.files import write_atomic
    from deixis.methods.matcher import load

    if len(pairs) % 2:
        raise DataError(f"pictures and texts come in pairs, found {len(pairs)} words in all")
    given = [(Path(p), t) for p, t in zip(pairs[::2], pairs[1::2], strict=True)]
    sights = see_swapped(load(run), given)
    if as_json:
        print(json.dumps([sight.to_dict() for sight in sights], indent=2))
        return
    to.mkdir(parents=True, exist_ok=True)
    for number, sight in enumerate(sights, 1):
        sheet(sight).save(to / f"{number}.png")
        say(f"{to / f'{number}.png'}  score {sight.score:.3f}  {sight.text}")
    judged = run / "metrics.json"
    measures = json.loads(judged.read_text(encoding="utf-8"))["measures"] if judged.exists() else {}
    content = page(f"{run}: attention and gates", sights, measures)
    write_atomic(to / "index.html", content.encode())
    say(f"{to / 'index.html'}")
