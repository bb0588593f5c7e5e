"""`deixis serve`: a library as a web page and an interface for programs."""

import os
from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import LibraryFolder, Threads
from deixis.cli.progress import say


@app.command()
def serve(
    library: LibraryFolder = Path("library"),
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8420,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DEIXIS_TOKEN", help="What callers must show; needed beyond this machine."
        ),
    ] = None,
    threads: Threads = 2,
) -> None:
    """Serve the search box until interrupted."""
    from deixis.serve.run import run

    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    run(library, host, port, token, lambda url: say(f"search box: [bold]{url}[/]  (Ctrl-C ends)"))
