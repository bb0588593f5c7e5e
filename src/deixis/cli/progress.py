"""Progress for people: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

console = Console(stderr=True)
Advance = Callable[[int, int], None]  # done, of how many


@contextmanager
def counting(what: str) -> Iterator[Advance]:
    """A bar that is told how many of how many are done."""
    with _bars() as progress:
        task = progress.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        with _plain_lines(what) as say:
            yield advance if console.is_terminal else say


@contextmanager
def training(what: str, steps: int) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar over training steps with the loss and the last validation score."""
    with _bars() as progress, _plain_lines(what) as say:
        task = progress.add_task(what, total=steps)
        shown = {"loss": "", "validation": ""}

        def tell(record: dict[str, Any]) -> None:
            if "validation" in record:
                shown["validation"] = f"  val RSUM {record['validation']:.1f}"
            else:
                shown["loss"] = f"loss {record['loss']:.2f}"
            label = f"{what}  {shown['loss']}{shown['validation']}"
            progress.update(task, completed=record["step"], description=label)
            if not console.is_terminal:
                say(record["step"], steps)

        yield tell


def _bars() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


@contextmanager
def _plain_lines(what: str) -> Iterator[Advance]:
    """Where there is no terminal: at most one line every ten seconds, and one at the end."""
    last = time.monotonic()
    seen = (0, 0)

    def say(done: int, total: int) -> None:
        nonlocal last, seen
        seen = (done, total)
        if time.monotonic() - last >= 10.0:
            last = time.monotonic()
            console.print(f"{what}: {done} of {total}", highlight=False)

    yield say
    if not console.is_terminal and seen[1]:
        console.print(f"{what}: {seen[0]} of {seen[1]} done", highlight=False)
