"""`deixis demo`: the main job end to end, on simulated scenes."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Threads, Tiny
from deixis.cli.progress import Bars, output, say
from deixis.data.corpus import Corpus

if TYPE_CHECKING:
    from deixis.search.query import Query

WORDS, POINTING = Path("recipes/tiny.toml"), Path("recipes/pointing.toml")
QUERIES = 3


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where everything is put.")] = Path("demo"),
    tiny: Tiny = False,
    threads: Threads = 1,  # small products: a second thread mostly waits for the first
) -> None:
    """Draw scenes, train, print the tables, index the held-out pictures, search and serve them."""
    from deixis.cli.training import run_recipe
    from deixis.recipes.prepare import find_corpus
    from deixis.recipes.run import run_folder
    from deixis.search import verbs

    runs, library = folder / "runs", folder / "library"
    for recipe in (WORDS, POINTING):
        loaded, report = run_recipe(recipe, [], runs, tiny=tiny, threads=threads)
        output.print(report.terminal())
    row = loaded.rows[-1]
    corpus = find_corpus(row.data, lambda what, done, total: None).split(row.data.test)
    run = run_folder(loaded, row, loaded.seeds[0], runs)
    with Bars() as bars:
        pictures = corpus.path(0).parent
        verbs.index([pictures], library, run, on_file=lambda o, d, n: bars.advance("index", d, n))
    for query, file in _queries(corpus):
        say(f'\n[bold]deixis search "{query.text}" --library {library}[/]')
        _show(query, file, library)
    _serve(library)


def _queries(corpus: Corpus) -> "Iterator[tuple[Query, str]]":
    """A few narrations of held-out scenes, as they were said and drawn, and what they are of."""
    from deixis.search.query import Query

    for number in range(QUERIES):
        text = number * len(corpus.texts) // QUERIES
        told = corpus.narrations[text]
        asked = Query(text=told.text, k=3, strokes=told.strokes, words=told.words, trace_weight=1.0)
        yield asked, corpus.files[corpus.owners[text]]


def _show(query: "Query", file: str, library: Path) -> None:
    """What the words find alone, and what they find with the trace that was drawn with them."""
    from dataclasses import replace

    from deixis.search import verbs

    bare = replace(query, strokes=(), words=())
    for name, asked in (("words alone", bare), ("words and trace", query)):
        say(f"  {name}")
        for hit in verbs.search(asked, library).hits:
            mark = "  ← as described" if hit.paths[0].endswith(file) else ""
            say(f"  {hit.score:6.3f}  {hit.paths[0]}{mark}")


def _serve(library: Path) -> None:
    """Open the search box for whoever sits there; a run without a terminal ends instead."""
    command = f"deixis serve --library {library}"
    if not sys.stdin.isatty():
        say(f"\nThe search box over these pictures, words and pointing: [bold]{command}[/]")
        return
    from deixis.cli.serve import serve

    say(f"\n[bold]{command}[/]")
    serve(library)
