"""Progress for people: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

console = Console(stderr=True)
# Written to a file or a pipe, a table keeps its own width; no column is cut to fit a terminal.
output = Console(width=None if sys.stdout.isatty() else 240)
QUIET = 10.0  # seconds between two lines where there is no terminal


def say(line: str) -> None:
    """Print a line for people, never broken by the terminal's width."""
    output.print(line, highlight=False, soft_wrap=True)


class Bars:
    """One bar for each thing that is counted; things appear as they are first told of."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._said: dict[str, float] = {}

    def __enter__(self) -> "Bars":
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def count(self, what: str, done: int) -> None:
        """Say that so many are done when nobody knows of how many."""
        if done % 100 == 0:
            self.advance(what, done, done + 1)

    def advance(self, what: str, done: int, total: int, note: str = "") -> None:
        """Say that so many of so many are done."""
        if console.is_terminal:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(what, total=total)
            label = f"{what}  {note}" if note else what
            self._bars.update(self._tasks[what], completed=done, total=total, description=label)
            return
        now = time.monotonic()
        if done >= total or now - self._said.setdefault(what, now) >= QUIET:
            self._said[what] = now
            console.print(f"{what}: {done} of {total}  {note}".rstrip(), highlight=False)


@contextmanager
def training(what: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar over training steps with the loss terms and the last validation score."""
    validated = ""
    with Bars() as bars:

        def tell(record: dict[str, Any]) -> None:
            nonlocal validated
            if "warning" in record:
                console.print(f"[yellow]warning:[/] {record['warning']}", highlight=False)
            if "validation" in record:
                validated = f"val {record['validation']:.1f} (best {record['best']:.1f})"
            elif "loss" in record:
                terms = " ".join(
                    f"{name} {value:.3g}"
                    for name, value in record.items()
                    if name not in ("step", "steps", "norm", "warning")
                )
                bars.advance(what, record["step"], record["steps"], f"{terms}  {validated}")

        yield tell
