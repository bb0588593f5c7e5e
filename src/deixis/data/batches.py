"""Which images and texts meet at a step: a function of the seed and the step alone."""

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
    """Pairs: each text once an epoch, with the image it was written for.

    An image two of whose texts meet in a batch is there once; the positives say whose they are.
    """

    dataset: Dataset
    size: int
    seed: int

    def __len__(self) -> int:
        """Batches an epoch; a last short one is left out."""
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


@dataclass(frozen=True)
class ImageBatches:
    """Images with their texts: each image once an epoch, with all its texts or a few drawn anew."""

    dataset: Dataset
    size: int
    seed: int
    texts_an_image: int = 0  # 0: all of them

    def __len__(self) -> int:
        """Batches an epoch; a last short one is left out."""
        return max(1, len(self.dataset.images) // self.size)

    def at(self, step: int) -> Batch:
        """The batch of a step, counted from 0 over all epochs."""
        return self.dataset.batch(*self.items(step))

    def items(self, step: int) -> Items:
        """The images and texts of a step."""
        epoch, number = divmod(step, len(self))
        order = shuffled(len(self.dataset.images), self.seed, epoch)
        images = np.sort(order[number * self.size : (number + 1) * self.size])
        random = np.random.default_rng((self.seed, step, 1))
        texts = np.concatenate([self._texts(int(image), random) for image in images])
        return images, texts

    def _texts(self, image: int, random: np.random.Generator) -> Int[ndarray, " text"]:
        own = self.dataset.texts_of(image)
        if not self.texts_an_image or len(own) <= self.texts_an_image:
            return own
        return random.choice(own, self.texts_an_image, replace=False)


@lru_cache(maxsize=4)
def shuffled(items: int, seed: int, epoch: int) -> Int[ndarray, " item"]:
    """The order of an epoch."""
    return np.random.default_rng((seed, epoch)).permutation(items)
