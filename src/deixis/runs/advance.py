"""The callback by which long work reports its progress."""

from collections.abc import Callable

Advance = Callable[[str, int, int], None]  # what is being done, how many are done, of how many


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
