"""`deixis serve`: a library as a web page and an HTTP interface."""

import os
from typing import Annotated, Literal

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Cluster, LibraryPlace
from deixis.cli.shared.printing import say


def _use_threads(threads: int) -> int:
    """Torch may never be loaded here, so the number goes into the environment."""
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    return threads


@app.command()
def serve(
    library: LibraryPlace = "library",
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8420,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DEIXIS_TOKEN",
            help="Secret for clients, at least 16 characters; required beyond this machine.",
        ),
    ] = None,
    engine: Annotated[
        Literal["exact", "ivf"],
        typer.Option(help="ivf is nearly exact, and faster for very large libraries."),
    ] = "exact",
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow changes in the library's folders.")
    ] = False,
    no_adding: Annotated[
        bool,
        typer.Option("--no-adding", help="Let nobody add folders; recommended behind a proxy."),
    ] = False,
    cluster: Cluster = None,
    shards: Annotated[
        int, typer.Option(help="On a cluster: into how many parts the library is divided.")
    ] = 1,
    copies: Annotated[
        int, typer.Option(help="On a cluster: how many copies of each part are served.")
    ] = 1,
    threads: Annotated[
        int, typer.Option(min=1, help="Threads for matrix products.", callback=_use_threads)
    ] = 2,
) -> None:
    """Serve the search box until interrupted; with --cluster from many machines."""
    from deixis.scale.here_or_remote import OnCluster, serve_library
    from deixis.serve.start import ServeOptions

    token = os.environ.get("DEIXIS_TOKEN") if token is None else token  # set but empty is refused
    how = ServeOptions(host, port, token, engine, watch, not no_adding)
    serve_library(library, how, OnCluster(cluster, shards, copies), _announce)


def _announce(url: str) -> None:
    say(f"search box: {url}  (Ctrl-C ends)")
