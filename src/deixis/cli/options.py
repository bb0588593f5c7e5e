"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

RecipePath = Annotated[Path, typer.Argument(help="A recipe: one TOML file, one table.")]
Overrides = Annotated[
    list[str] | None, typer.Argument(help="Changes as key=value, for example train.lr=1e-3.")
]
Runs = Annotated[Path, typer.Option(help="Where run folders are kept.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Tiny = Annotated[bool, typer.Option("--tiny", help="The same in seconds, on few simulated scenes.")]
Threads = Annotated[int, typer.Option(help="Threads for matrix products.")]
RunFolder = Annotated[Path, typer.Argument(help="A run folder.")]
LibraryFolder = Annotated[Path, typer.Option("--library", "-l", help="The library's folder.")]
