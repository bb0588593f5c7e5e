"""The `deixis` command and how its verbs fail."""

import sys
from importlib import import_module

import typer
from rich.console import Console

from deixis import __version__
from deixis.errors import DeixisError

VERBS = (
    "data",
    "features",
    "adopt",
    "train",
    "table",
    "draw",
    "compare",
    "failures",
    "evaluate",
    "cost",
    "rerank",
    "report",
    "explain",
    "mine",
    "ranks",
    "index",
    "search",
    "serve",
    "export",
    "pack",
    "status",
    "demo",
)

app = typer.Typer(
    help="Image–text retrieval from paper to search box.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback(invoke_without_command=True)
def deixis(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Image–text retrieval from paper to search box."""
    if version:
        print(__version__)
        raise typer.Exit


def load_verbs() -> None:
    """Let every verb enter itself; none imports anything heavy before it runs."""
    for verb in VERBS:
        import_module(f"deixis.cli.{verb}")


def main() -> None:
    """Run the command; what deixis refuses becomes one sentence and exit code 1."""
    load_verbs()
    try:
        app()
    except DeixisError as error:
        Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False, soft_wrap=True)
        sys.exit(1)
