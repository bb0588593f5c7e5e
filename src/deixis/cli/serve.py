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
    engine: Annotated[
        str, typer.Option(help="exact, or ivf: nearly exact and faster in very large libraries.")
    ] = "exact",
    threads: Threads = 2,
) -> None:
    """Serve the search box until interrupted."""
    from deixis.serve.run import Listening, run

    if engine not in ("exact", "ivf"):
        raise typer.BadParameter(f"'{engine}' is no engine; exact and ivf are")
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    how = Listening(host, port, token, "ivf" if engine == "ivf" else "exact")
    run(library, how, lambda url: say(f"search box: [bold]{url}[/]  (Ctrl-C ends)"))
