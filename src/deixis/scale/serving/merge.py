"""Ranked lists of several shards as one list."""

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable


@runtime_checkable
class Ranked(Protocol):
    """An entry of a ranked list."""

    @property
    def score(self) -> float:
        """Higher is better."""

    @property
    def order(self) -> tuple[int, int]:
        """Shard and row: of equal scores the lower comes first, as in one index over all rows."""


T = TypeVar("T", bound=Ranked)


def merge_top(lists: Sequence[Sequence[T]], k: int) -> list[T]:
    """The k best entries of all lists; equal scores in the order of shards and rows."""
    entries = [entry for one in lists for entry in one]
    return sorted(entries, key=lambda entry: (-entry.score, entry.order))[:k]
