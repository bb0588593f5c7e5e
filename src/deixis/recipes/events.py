"""What happens while a recipe runs, for whoever shows it: bars, a notebook, a log."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deixis.recipes.results.printed_table import Report


@dataclass(frozen=True, slots=True)
class Counted:
    """Progress: ``done`` of ``total``, such as images read by a backbone."""

    what: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class DataReady:
    """A corpus has its features; images and texts per split."""

    corpus: str
    splits: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Stepped:
    """A row made a training step or was validated; the record is a line of the run's log."""

    row: str
    seed: int
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableReady:
    """One of several tables is finished."""

    report: Report


Event = Counted | DataReady | Stepped | TableReady
OnEvent = Callable[[Event], None]


def unheard(event: Event) -> None:
    """Show nothing."""
