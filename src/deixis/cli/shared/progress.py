"""Progress for people: a bar on a terminal, a line now and then elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from deixis.cli.shared.visible_text import visible

console = Console(stderr=True)
QUIET = 10.0  # seconds between two lines where there is no terminal


def report(line: str, *, mark: str = "") -> None:
    """Print a line beside the result, where progress goes; a mark stands before it."""
    parts = [(f"{mark} ", "yellow")] if mark else []
    console.print(Text.assemble(*parts, visible(line)), soft_wrap=True)


class _Rate(ProgressColumn):
    """How many are done per second, over the last half minute."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.1f}/s", style="progress.data.speed")


class Bars:
    """One bar for each thing that is counted; things appear when they are first counted."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._printed: dict[str, float] = {}

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

    def note(self, line: str) -> None:
        """Print a line above the bars."""
        console.print(visible(line), highlight=False, markup=False)

    def count(self, what: str, done: int) -> None:
        """Show ``done``, when the total is not known."""
        if done % 100 == 0:
            self.advance(what, done, done + 1)

    def advance(self, what: str, done: int, total: int, note: str = "") -> None:
        """Show ``done`` of ``total``."""
        if console.is_terminal:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(visible(what), total=total)
            label = visible(f"{what}  {note}" if note else what)
            self._bars.update(self._tasks[what], completed=done, total=total, description=label)
            return
        now = time.monotonic()
        if done >= total or now - self._printed.setdefault(what, now) >= QUIET:
            self._printed[what] = now
            report(f"{what}: {done} of {total}  {note}".rstrip())
