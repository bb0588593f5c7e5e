"""Batches of images with their texts: a function of the seed and the step alone."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.data.batches.pairs import Items, shuffled
from deixis.data.dataset import Dataset
from deixis.types import Batch


@dataclass(frozen=True)
class ImageBatches:
    """Images with their texts: each image once per epoch, with all or a few of its texts."""

    dataset: Dataset
    size: int
    seed: int
    texts_per_image: int = 0  # 0: all of them

    def __len__(self) -> int:
        """Batches per epoch; a last short one is left out."""
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
        if not self.texts_per_image or len(own) <= self.texts_per_image:
            return own
        return random.choice(own, self.texts_per_image, replace=False)
