"""Problems of a corpus: what is wrong, in which file and line.

A reader reports a problem and goes on with the next row. Reading refuses the first one; checking
collects them all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from deixis.errors import DataError

ProblemKind = Literal[
    "missing image",
    "unreadable image",
    "duplicate image",
    "byte-string text",
    "empty text",
    "text without image",
    "label out of range",
    "not UTF-8",
    "path outside",
    "not finite",
    "malformed",
]


@dataclass(frozen=True, slots=True)
class CorpusProblem:
    """One thing that is wrong: its kind, the file and line, and what was found there."""

    kind: ProblemKind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


ReportProblem = Callable[[CorpusProblem], None]


def refuse(problem: CorpusProblem) -> None:
    """Stop at a problem: what reading does."""
    raise DataError(str(problem))
