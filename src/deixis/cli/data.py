"""`deixis data`: look at corpora, check them, turn one format into another, draw scenes."""

import json
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from deixis.cli.app import app
from deixis.cli.options import Json
from deixis.cli.progress import Bars, say

LOOK = 3  # the exit code that says: done, and there is something to look at

data = typer.Typer(help="Look at, check and convert corpora, draw scenes.", no_args_is_help=True)
app.add_typer(data, name="data")

CorpusPath = Annotated[Path, typer.Argument(help="A corpus, in any known format.")]


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
def info(corpus: CorpusPath, as_json: Json = False) -> None:
    """Say what a corpus holds."""
    from deixis.data.read import format_of, read_corpus

    found = read_corpus(corpus)
    record = {
        "name": found.name,
        "format": format_of(corpus).name,
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


@data.command()
def check(corpus: CorpusPath, as_json: Json = False) -> None:
    """Name every problem of a corpus with its file and line; exit code 3 when there is one."""
    from deixis.data.check import check_corpus

    with Bars() as bars:
        report = check_corpus(corpus, lambda done: bars.count("checking", done))
    if as_json:
        print(json.dumps(asdict(report), indent=2))
    else:
        for problem in report.problems:
            say(f"[yellow]{problem.kind}[/]  {problem}")
        kinds = Counter(problem.kind for problem in report.problems)
        found = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        say(f"{report.images} images, {report.texts} texts: {found or 'nothing wrong'}")
    raise typer.Exit(LOOK if report.problems else 0)


@data.command()
def convert(
    corpus: CorpusPath,
    target: Annotated[Path, typer.Argument(help="The folder or the .json file to write.")],
    to: Annotated[
        Literal["imagefolder", "karpathy"], typer.Option(help="The format to write.")
    ] = "imagefolder",
) -> None:
    """Write a corpus in another format."""
    from deixis.data.read import read_corpus
    from deixis.data.write import write_imagefolder, write_karpathy

    write = write_imagefolder if to == "imagefolder" else write_karpathy
    for lost in write(read_corpus(corpus), target):
        say(f"[yellow]{lost}[/]")
    print(target)


@data.command()
def traces(
    corpus: CorpusPath,
    target: Annotated[
        Path | None, typer.Argument(help="The file to write; beside the captions by default.")
    ] = None,
    image: Annotated[str, typer.Option(help="Features in which nouns are looked for.")] = "lite0",
    each: Annotated[int, typer.Option(help="Captions an image that get a trace.")] = 2,
    train: Annotated[str, typer.Option(help="The split nouns are learnt from.")] = "train",
) -> None:
    """Write simulated traces for a captioned corpus: a pointer circles what captions name."""
    from deixis.data.extracting import image_features
    from deixis.data.narratives import narrative_record
    from deixis.data.read import read_corpus
    from deixis.data.simulated_traces import noun_places, simulated_traces
    from deixis.features.files import write_atomic

    found = read_corpus(corpus).captions()
    target = target or found.root / "narratives_simulated.jsonl"
    with Bars() as bars:
        placed = image_features(found, image, partial(bars.advance, image))
        pointer = noun_places(found, placed, train)
        told = simulated_traces(found, placed, pointer, each, partial(bars.advance, "pointing"))
        lines = [json.dumps(narrative_record(one), ensure_ascii=False) for one in told]
    write_atomic(target, "".join(f"{line}\n" for line in lines).encode())
    print(target)
