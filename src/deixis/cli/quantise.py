"""`deixis quantise`: the backbones in eight bits."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars


@app.command()
def quantise(
    corpus: Annotated[Path, typer.Argument(help="A corpus of photographs to calibrate on.")],
    split: Annotated[str, typer.Option(help="The split to take them from.")] = "train",
    to: Annotated[
        Path | None,
        typer.Option(help="Output folder; by default the graphs that come with deixis."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write Lite0, Lite2 and MiniLM as eight-bit graphs."""
    from deixis.runs.export.quantise_backbones import quantise_on

    with Bars() as bars:
        graphs = quantise_on(corpus, split, to, bars.advance)
    if as_json:
        print_json([asdict(graph) for graph in graphs])
        return
    for graph in graphs:
        say(f"{graph.path}: {graph.megabytes:.1f} MB")
