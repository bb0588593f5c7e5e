"""Batches that hold whole twin groups."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.errors import DataError
from deixis.types import Batch


@dataclass(frozen=True, eq=False)  # found again by identity: a dataset has no cheap equality
class TwinBatches:
    """Batches of matching pairs that keep twin groups together: the hardest negatives there are.

    Each text comes once per epoch; a group comes as often as its images have texts, with a text of
    each image every time. A batch holds about ``size`` texts, because groups are never parted.
    """

    dataset: Dataset
    size: int
    seed: int

    def __post_init__(self) -> None:
        if self.dataset.corpus.twins is None:
            raise DataError(f"corpus '{self.dataset.corpus.name}' has no twin groups to batch by")

    def __len__(self) -> int:
        """Batches per epoch; a last short one is left out."""
        return max(1, len(self.dataset.texts) // self.size)

    def at(self, step: int) -> Batch:
        """The batch of a step, counted from 0 over all epochs."""
        epoch, number = divmod(step, len(self))
        texts, starts = _ordered(self, epoch)
        chosen = texts[starts // self.size == number]
        return self.dataset.batch(np.unique(self.dataset.corpus.owners[chosen]), chosen)

    def units(
        self, chance: np.random.Generator
    ) -> tuple[Int[ndarray, " text"], Int[ndarray, " text"]]:
        """All texts, and for each the number of the unit it travels in.

        The first drawn text of every image of a group travels together, so does the second.
        """
        corpus = self.dataset.corpus
        assert corpus.twins is not None
        texts = chance.permutation(len(corpus.texts))
        owners = corpus.owners[texts]
        group = np.where(corpus.twins[owners, 0] < 0, -1 - owners, corpus.twins[owners, 0])
        by_owner = np.argsort(owners, kind="stable")
        counts = np.unique(owners, return_counts=True)[1]
        turn = np.empty(len(texts), dtype=np.int64)
        turn[by_owner] = np.concatenate([np.arange(count) for count in counts])
        unit = np.unique(np.stack([group, turn], axis=1), axis=0, return_inverse=True)[1]
        return texts, unit.reshape(-1)


@lru_cache(maxsize=4)
def _ordered(
    batches: TwinBatches, epoch: int
) -> tuple[Int[ndarray, " text"], Int[ndarray, " text"]]:
    """The texts in the order of an epoch, and for each where its unit begins."""
    chance = np.random.default_rng((batches.seed, epoch))
    texts, unit = batches.units(chance)
    order = np.argsort(chance.permutation(unit.max() + 1)[unit], kind="stable")
    texts, unit = texts[order], unit[order]
    _, first, sizes = np.unique(unit, return_index=True, return_counts=True)
    return texts, np.repeat(np.sort(first), sizes[np.argsort(first)])
