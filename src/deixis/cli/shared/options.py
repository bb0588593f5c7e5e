"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer


def use_threads(threads: int) -> int:
    """Set the number of torch threads."""
    import torch

    torch.set_num_threads(threads)
    return threads


RecipePath = Annotated[
    str,
    typer.Argument(
        help="A recipe (a TOML file), or the name of one that comes with deixis, for example tiny."
    ),
]
Overrides = Annotated[
    list[str] | None, typer.Argument(help="Changes as key=value, for example train.lr=1e-3.")
]
Runs = Annotated[Path, typer.Option(help="Folder of the run folders.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Tiny = Annotated[
    bool,
    typer.Option("--tiny", help="Run in seconds, on a few simulated scenes and with tiny models."),
]
Rehearse = Annotated[
    bool,
    typer.Option(
        "--rehearse", help="Take two steps per row, with narrow models, on the recipe's own data."
    ),
]
Threads = Annotated[
    int, typer.Option(min=1, help="Threads for matrix products.", callback=use_threads)
]
RunFolder = Annotated[Path, typer.Argument(help="A run folder.")]
Split = Annotated[
    str, typer.Option(help="The split to use; by default the one the run was judged on.")
]
LibraryPlace = Annotated[
    str, typer.Option("--library", "-l", help="The library's folder, or s3://BUCKET/PREFIX.")
]
Cluster = Annotated[
    str | None,
    typer.Option(help="HOST:PORT of a Ray cluster that does the work."),
]
RemoteLibrary = Annotated[str, typer.Argument(help="s3://BUCKET/PREFIX, or a folder of shards.")]
LibraryFolder = Annotated[Path, typer.Option("--library", "-l", help="The library's folder.")]
At = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PHRASE=XMIN,XMAX,YMIN,YMAX",
        help="Where a phrase of the text is, such as 'a dog=0.1,0.4,0.5,0.9': left, right, "
        "top and bottom edge from 0 to 1, origin top left. Without PHRASE= it says that "
        "something is there. May be given several times.",
    ),
]
