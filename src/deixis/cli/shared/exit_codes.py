"""How a verb ends: 0 done, 1 refused with a sentence, 3 finished but something needs attention."""

from typing import Protocol, runtime_checkable

import typer

NEEDS_ATTENTION = 3


@runtime_checkable
class Attended(Protocol):
    """A result that says whether a person should look at it."""

    @property
    def needs_attention(self) -> bool:
        """Whether nothing was found, nothing is usable, or files are not as indexed."""


def end(result: Attended) -> typer.Exit:
    """The exception that ends a verb with the code its result deserves."""
    return typer.Exit(NEEDS_ATTENTION if result.needs_attention else 0)
