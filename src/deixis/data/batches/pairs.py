"""Batches of matching pairs: a function of the seed and the step alone."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.types import Batch

Items = tuple[Int[ndarray, " image"], Int[ndarray, " text"]]


@dataclass(frozen=True)
class PairBatches:
    """Pairs: each text once per epoch, with the image it was written for.

    An image two of whose texts meet in a batch is there once; the positives say whose they are.
    """

    dataset: Dataset
    size: int
    seed: int

    def __len__(self) -> int:
        """Batches per epoch; a last short one is left out."""
        return max(1, len(self.dataset.texts) // self.size)

    def at(self, step: int) -> Batch:
        """The batch of a step, counted from 0 over all epochs."""
        return self.dataset.batch(*self.items(step))

    def items(self, step: int) -> Items:
        """The images and texts of a step."""
        epoch, number = divmod(step, len(self))
        order = shuffled(len(self.dataset.texts), self.seed, epoch)
        texts = order[number * self.size : (number + 1) * self.size]
        return np.unique(self.dataset.corpus.owners[texts]), texts


@lru_cache(maxsize=4)
def shuffled(items: int, seed: int, epoch: int) -> Int[ndarray, " item"]:
    """The order of an epoch."""
    return np.random.default_rng((seed, epoch)).permutation(items)
