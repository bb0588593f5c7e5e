"""`deixis demo`: the main job end to end, on simulated scenes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import Threads
from deixis.cli.progress import Bars, output, say
from deixis.data.corpus import Corpus

QUERIES = 3


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where everything is put.")] = Path("demo"),
    recipe: Annotated[Path, typer.Option(help="The recipe to run.")] = Path("recipes/tiny.toml"),
    threads: Threads = 1,  # small products: a second thread mostly waits for the first
) -> None:
    """Draw scenes, train, print the table, index the held-out pictures, search them."""
    from deixis.cli.training import run_recipe
    from deixis.recipes.prepare import find_corpus
    from deixis.recipes.run import run_folder
    from deixis.search import verbs
    from deixis.search.query import Query

    loaded, report = run_recipe(recipe, [], folder / "runs", tiny=False, threads=threads)
    output.print(report.terminal())
    data = loaded.rows[0].data
    corpus = find_corpus(data, lambda what, done, total: None).split(data.test)
    run = run_folder(loaded, loaded.rows[0], loaded.seeds[0], folder / "runs")
    library, pictures = folder / "library", corpus.path(0).parent
    with Bars() as bars:
        verbs.index([pictures], library, run, on_file=lambda o, d, n: bars.advance("index", d, n))
    for text, right in _queries(corpus):
        say(f'\n[bold]deixis search "{text}" --library {library}[/]')
        for hit in verbs.search(Query(text=text, k=3), library).hits:
            mark = "  ← as described" if hit.paths[0].endswith(right) else ""
            say(f"{hit.score:6.3f}  {hit.paths[0]}{mark}")
    say(f"\nThe same library in a browser: [bold]deixis serve --library {library}[/]")


def _queries(corpus: Corpus) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A few captions of held-out scenes, each with every file it describes."""
    for number in range(QUERIES):
        text = number * len(corpus.texts) // QUERIES
        images = corpus.pairs[corpus.pairs[:, 1] == text, 0]
        yield corpus.texts[text], tuple(corpus.files[image] for image in images)
