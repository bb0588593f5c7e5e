from collections.abc import Iterator, Mapping

from deixis.data.reindexed import Reindexed


class Counting(Mapping[int, str]):
    """Ten letters that remember which of them were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __getitem__(self, key: int) -> str:
        self.read.append(key)
        return "abcdefghij"[key]

    def __iter__(self) -> Iterator[int]:
        return iter(range(10))

    def __len__(self) -> int:
        return 10


def test_choosing_reads_nothing_and_asking_reads_one() -> None:
    letters = Counting()
    some = Reindexed(letters, {0: 3, 1: 5, 2: 8})
    fewer = Reindexed(some, {0: 1, 1: 2})
    assert list(fewer) == [0, 1]
    assert len(some) == 3
    assert letters.read == []
    assert fewer[1] == "i"
    assert letters.read == [8]
