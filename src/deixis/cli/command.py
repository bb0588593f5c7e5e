"""The `deixis` command and how its verbs fail."""

import atexit
import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import typer
from rich.console import Console
from rich.text import Text

from deixis import __version__
from deixis.cli.shared.ending import (
    StoppedBySignal,
    end_in_order,
    leave,
    memory_sentence,
    system_sentence,
)
from deixis.cli.shared.visible_text import visible
from deixis.errors import DeixisError
from deixis.extras import missing_extra

VERBS_BY_TASK = {
    "Search pictures": (
        "index",
        "search",
        "serve",
        "explain",
        "status",
        "verify",
        "forget",
        "mcp",
        "demo",
    ),
    "Train and evaluate": (
        "table",
        "train",
        "evaluate",
        "compare",
        "rerank",
        "mine",
        "adopt",
        "draw",
    ),
    "Look into a model": ("attention", "report", "failures", "ranks", "cost"),
    "Prepare data": ("data", "features"),
    "Make a model smaller": ("export", "pack", "quantise"),
    "Use libraries in buckets": ("pull", "push", "collect"),
}
VERBS = tuple(verb for verbs in VERBS_BY_TASK.values() for verb in verbs)

# New objects after which unreachable cycles are looked for. Loading makes many objects and no
# cycles, and by Python's own number a tenth of a search went into looking.
FEW_CYCLES = 20_000

app = typer.Typer(
    help="Image–text retrieval, from the paper to the search box.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback(invoke_without_command=True)
def deixis(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Image–text retrieval, from the paper to the search box."""
    if version:
        print(__version__)
        raise typer.Exit


def load_verbs(verbs: Sequence[str] = VERBS) -> None:
    """Let verbs enter themselves; none imports anything heavy before it runs."""
    for verb in verbs:
        import_module(f"deixis.cli.{verb}")
    tasks = {verb: task for task, verbs in VERBS_BY_TASK.items() for verb in verbs}
    for command in app.registered_commands:
        command.rich_help_panel = tasks.get(getattr(command.callback, "__name__", ""))
    for group in app.registered_groups:
        group.rich_help_panel = tasks.get(str(group.name))


def main() -> None:
    """Run the command; what deixis or the system refuses becomes one sentence and exit code 1."""
    gc.set_threshold(FEW_CYCLES)
    atexit.register(gc.freeze)  # else Python looks through everything again before it ends
    asked = sys.argv[1:2]
    load_verbs(asked if set(asked) & set(VERBS) else VERBS)  # all take a fifth of a second
    end_in_order()
    try:
        app()
    except StoppedBySignal as stopped:
        _print(str(stopped), "stopped:")
        leave(stopped.code)
    except BrokenPipeError:  # who read the output has had enough
        sys.stdout = None  # else Python flushes it once more and fails
        sys.exit(0)
    except DeixisError as error:
        _end(str(error))
    except OSError as error:
        _end(system_sentence(error))
    except (MemoryError, RuntimeError) as error:
        sentence = memory_sentence(error)
        if sentence is None:
            raise
        _end(sentence)
    except ImportError as error:
        refused = missing_extra(error)
        if refused is None:
            raise
        _end(str(refused))


def _end(sentence: str) -> NoReturn:
    _print(sentence, "error:")
    sys.exit(1)


def _print(sentence: str, mark: str) -> None:
    line = Text.assemble((mark, "bold red"), " ", visible(sentence))
    Console(stderr=True).print(line, soft_wrap=True)
