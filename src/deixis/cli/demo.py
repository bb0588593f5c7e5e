"""`deixis demo`: the main job end to end, on simulated scenes."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Threads, Tiny
from deixis.cli.shared.printing import say

ADDRESS = "http://127.0.0.1:8420"  # where `deixis serve` listens by default


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for everything the demo writes.")] = Path(
        "demo"
    ),
    tiny: Tiny = False,
    threads: Threads = 1,  # small products: a second thread mostly waits for the first
) -> None:
    """Draw scenes, train a small table, index the held-out pictures, search and serve them."""
    from deixis.cli.shared.recipe_bars import RecipeBars
    from deixis.recipes.demonstration import demonstrate

    with RecipeBars() as bars:
        done = demonstrate(folder, tiny=tiny, on_event=bars)
    found = done.figures
    say("")
    say(
        f"{found.pictures} held-out scenes, searched with the model that comes with deixis for "
        "them (recipes/scenes_search.toml):"
    )
    say(f"  by words         R@1 {found.by_captions[0]:5.1f}  R@5 {found.by_captions[1]:5.1f}")
    say(
        f"  words, pointing  R@1 {found.by_pointing[0]:5.1f}  R@5 {found.by_pointing[1]:5.1f}"
        f"  right twin {found.right_twin:5.1f} %"
    )
    for one in done.answers:
        say("")
        say(f'deixis search "{one.text}" --library {done.library}', style="bold")
        shown = {"words alone": one.by_words, "words and trace": one.by_words_and_trace}
        for name, hits in shown.items():
            say(f"  {name}")
            for hit in hits:
                mark = "  ← as described" if hit.paths[0].endswith(one.file) else ""
                say(f"  {hit.score:6.3f}  {hit.paths[0]}{mark}")
    open_search_box(done.library)


def open_search_box(library: Path) -> None:
    """Serve the library when run from a terminal; elsewhere only print the command."""
    command = f"deixis serve --library {library}"
    if not sys.stdin.isatty():
        say("")
        say(f"The search box over these pictures, words and pointing, at {ADDRESS}: {command}")
        return
    from deixis.cli.serve import serve

    say("")
    say(command, style="bold")
    serve(str(library))
