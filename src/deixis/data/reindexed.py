"""A view of a mapping under new indices: rows are chosen without being read."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class Reindexed(Mapping[int, T]):
    """Chosen values of a mapping under new keys; a value is fetched when it is needed."""

    def __init__(self, source: Mapping[int, T], old_keys: Mapping[int, int]) -> None:
        if isinstance(source, Reindexed):  # views do not pile up
            old_keys = {new: source._old_keys[old] for new, old in old_keys.items()}
            source = source._source
        self._source: Mapping[int, T] = source
        self._old_keys: Mapping[int, int] = old_keys

    def __getitem__(self, key: int) -> T:
        return self._source[self._old_keys[key]]

    def __iter__(self) -> Iterator[int]:
        return iter(self._old_keys)

    def __len__(self) -> int:
        return len(self._old_keys)
