"""How things are measured: interleaved repeats, medians of CPU time, goals beside values."""

import ctypes
import gc
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from deixis.neighbours.integer_layout import processor_name

PEAK = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Figure:
    """One measured value, its goal if it has one, and on which side of it the value should lie."""

    name: str
    value: float
    goal: float | None
    better: Literal["higher", "lower"] = "higher"
    unit: str = "×"
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Whether the goal is met; a figure without one is only printed."""
        if self.goal is None:
            return True
        met = self.value >= self.goal if self.better == "higher" else self.value <= self.goal
        return bool(met)


@dataclass(frozen=True)
class Timed:
    """What a piece of work gave, and the median of its CPU seconds over the repeats."""

    result: Any
    seconds: float


def interleaved(repeats: int, *works: Callable[[], Any]) -> list[Timed]:
    """Run each work in turn, round after round, so that a slow minute of the machine hits all.

    Time is CPU time of the process, all its threads together: waiting for others does not count.
    """
    seconds: list[list[float]] = [[] for _ in works]
    results: list[Any] = [None for _ in works]
    for _ in range(repeats):
        for place, work in enumerate(works):
            start = time.process_time()
            results[place] = work()
            seconds[place].append(time.process_time() - start)
    each = zip(results, seconds, strict=True)
    return [Timed(result, statistics.median(taken)) for result, taken in each]


def speed_up(name: str, ours: Timed, baseline: Timed, goal: float) -> Figure:
    """How many times less CPU time ours takes."""
    detail = f"{ours.seconds:.2f} s beside {baseline.seconds:.2f} s"
    return Figure(name, baseline.seconds / ours.seconds, goal, detail=detail)


def agreement(name: str, ours: Iterable[float], theirs: Iterable[float], goal: float) -> Figure:
    """The largest difference between numbers that should be equal."""
    gaps = [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    return Figure(name, max(gaps), goal, "lower", "", f"{len(gaps)} numbers")


def extra_memory(work: Callable[[], Any]) -> float:
    """Megabytes a piece of work adds to the process at its peak; needs Linux with glibc.

    What earlier work freed is handed back first: the allocator keeps it, and work that reuses it
    would seem to need nothing.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    RESET.write_text("5")  # the peak starts again from here
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> float:
    line = next(row for row in PEAK.read_text().splitlines() if row.startswith(field))
    return float(line.split()[1])


def table(name: str, figures: Iterable[Figure], threads: int) -> Table:
    """The figures of one benchmark, for people."""
    load = f"load {os.getloadavg()[0]:.1f}"
    title = f"{name} (threads: {threads}, {processor_name()}, {load})"
    out = Table(title=title, title_justify="left")
    for heading in ("", "value", "goal", ""):
        out.add_column(heading, justify="right" if heading else "left")
    out.add_column("CPU time, median", style="dim")
    for figure in figures:
        sign = "≥" if figure.better == "higher" else "≤"
        met = "[green]met[/]" if figure.ok else "[red]missed[/]"
        value, goal = f"{figure.value:.4g} {figure.unit}", ""
        if figure.goal is None:
            met = ""
        else:
            goal = f"{sign} {figure.goal:g} {figure.unit}"
        out.add_row(figure.name, value, goal, met, figure.detail)
    return out


def record(measured: dict[str, list[Figure]], threads: int) -> str:
    """All figures as JSON, for machines."""
    figures = [
        # A value may have been computed by numpy or torch, whose numbers are not JSON.
        {"benchmark": name, **asdict(figure), "value": float(figure.value), "ok": figure.ok}
        for name, listed in measured.items()
        for figure in listed
    ]
    machine = {"processor": processor_name(), "load": os.getloadavg()[0], "threads": threads}
    return json.dumps({**machine, "figures": figures}, indent=2, ensure_ascii=False)
