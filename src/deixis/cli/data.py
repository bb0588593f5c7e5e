"""`deixis data`: inspect, check and convert corpora; draw scenes."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from deixis.cli.command import app
from deixis.cli.shared.exit_codes import end
from deixis.cli.shared.options import Json
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars

data = typer.Typer(
    help="Inspect, check and convert corpora; draw simulated scenes.", no_args_is_help=True
)
app.add_typer(data, name="data")

CorpusPath = Annotated[Path, typer.Argument(help="A corpus, in any known format.")]


@data.command()
def scenes(
    folder: Annotated[Path, typer.Argument(help="Output folder.")],
    images: Annotated[int, typer.Option(min=1, help="How many pictures to draw.")] = 1600,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same scenes.")] = 0,
    as_json: Json = False,
) -> None:
    """Draw simulated narrated scenes: pictures, captions, labels, regions, traces."""
    from deixis.data.simulated.scenes.write_scenes import write_scenes

    with Bars() as bars:
        written = write_scenes(
            folder,
            images=images,
            seed=seed,
            progress=lambda done, total: bars.advance("drawing simulated scenes", done, total),
        )
    print_json({"folder": written, "images": images}) if as_json else say(str(written))


@data.command()
def info(corpus: CorpusPath, as_json: Json = False) -> None:
    """Show what a corpus contains."""
    from deixis.data.describe_corpus import describe_corpus

    found = describe_corpus(corpus).to_dict()
    if as_json:
        print_json(found)
        return
    for key, value in found.items():
        say(f"{key:>11}  {value}")


@data.command()
def check(corpus: CorpusPath, as_json: Json = False) -> None:
    """List every problem of a corpus with file and line; exit code 3 if there is one."""
    from deixis.data.check_corpus import check_corpus

    with Bars() as bars:
        report = check_corpus(corpus, lambda done: bars.count("checking", done))
    if as_json:
        print_json(asdict(report))
    else:
        for problem in report.problems:
            say(str(problem), mark=problem.kind)
        kinds = Counter(problem.kind for problem in report.problems)
        found = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        say(f"{report.images} images, {report.texts} texts: {found or 'nothing wrong'}")
    raise end(report)


@data.command()
def convert(
    corpus: CorpusPath,
    target: Annotated[Path, typer.Argument(help="The folder or the .json file to write.")],
    to: Annotated[
        Literal["imagefolder", "karpathy"], typer.Option(help="The format to write.")
    ] = "imagefolder",
    as_json: Json = False,
) -> None:
    """Write a corpus in another format."""
    from deixis.data.write_corpus import convert_corpus

    lost = convert_corpus(corpus, target, to)
    if as_json:
        print_json({"target": target, "lost": lost})
        return
    for line in lost:
        say(line, style="yellow")
    say(str(target))


@data.command()
def traces(
    corpus: CorpusPath,
    target: Annotated[
        Path | None, typer.Argument(help="The file to write; beside the captions by default.")
    ] = None,
    image: Annotated[str, typer.Option(help="Image features used to locate nouns.")] = "lite0",
    each: Annotated[int, typer.Option(min=1, help="Captions per image that get a trace.")] = 2,
    train: Annotated[
        str, typer.Option(help="The split used to learn what nouns look like.")
    ] = "train",
    as_json: Json = False,
) -> None:
    """Write simulated traces for a captioned corpus: a pointer circles what captions name."""
    from deixis.data.simulated.traces import write_traces

    with Bars() as bars:
        written = write_traces(corpus, target, image, each, train, bars.advance)
    print_json({"file": written}) if as_json else say(str(written))
