"""Batches that bring mined negatives along."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray
from torch import Tensor

from deixis.data.batches import ImageBatches, PairBatches
from deixis.data.negatives import Negatives
from deixis.errors import DataError
from deixis.types import Batch, Offline

Sampler = Literal["uniform", "normal"]
SPREAD = 1 / 6  # of a list: three deviations either side of the middle reach its ends


@dataclass(frozen=True)
class OfflineSpec:
    """How many negatives are mined, and how they are drawn; five texts an image give the ratio."""

    by: str = ""  # label of the earlier row whose model mines
    texts: int = 300  # of each image
    images: int = 60  # of each text
    sampler: Sampler = "uniform"


@dataclass(frozen=True)
class OfflineBatches:
    """For every matching pair a hard text and a hard image, drawn anew at each step.

    ``normal`` draws from the middle of the lists rather than evenly, so that the very first,
    which may be unlabelled matches, come seldom.
    *Paper*: AOQ 2020, section 3.2. There one draw serves both lists; here each list has its own.
    """

    batches: PairBatches | ImageBatches
    negatives: Negatives
    sampler: Sampler = "uniform"

    def __post_init__(self) -> None:
        found = len(self.negatives.texts), len(self.negatives.images)
        wanted = len(self.batches.dataset.images), len(self.batches.dataset.texts)
        if found != wanted:
            raise DataError(f"negatives of {found} images and texts, but the split has {wanted}")

    def __len__(self) -> int:
        """Batches an epoch."""
        return len(self.batches)

    def at(self, step: int) -> Batch:
        """The batch of a step with its negatives behind its own items."""
        dataset, (images, texts) = self.batches.dataset, self.batches.items(step)
        row, column = dataset.positives(images, texts).nonzero()
        random = np.random.default_rng((self.batches.seed, step, 2))
        hard_text = self._drawn(self.negatives.texts, images[row], random)
        hard_image = self._drawn(self.negatives.images, texts[column], random)
        partner_image = dataset.corpus.owners[hard_text]
        partner_text = self._texts(hard_image, hard_text, random)
        all_images = _joined(images, hard_image, partner_image)
        all_texts = _joined(texts, hard_text, partner_text)
        offline = Offline(
            own_images=len(images),
            own_texts=len(texts),
            pair=torch.from_numpy(np.stack([row, column], axis=1)),
            negative=_rows(all_images, hard_image, all_texts, hard_text),
            partner=_rows(all_images, partner_image, all_texts, partner_text),
        )
        return replace(dataset.batch(all_images, all_texts), offline=offline)

    def _drawn(
        self,
        lists: Int[ndarray, "anchor hard"],
        anchors: Int[ndarray, " pair"],
        random: np.random.Generator,
    ) -> Int[ndarray, " pair"]:
        """One item of each anchor's list."""
        length, count = lists.shape[1], len(anchors)
        if self.sampler == "uniform":
            places = random.integers(length, size=count)
        else:
            drawn = random.normal(0.5, SPREAD, size=count) * length
            places = drawn.astype(np.int64).clip(0, length - 1)
        return lists[anchors, places].astype(np.int64)

    def _texts(
        self,
        images: Int[ndarray, " pair"],
        otherwise: Int[ndarray, " pair"],
        random: np.random.Generator,
    ) -> Int[ndarray, " pair"]:
        """One text of each image; an image without any is given a text that is no negative."""
        own = (self.batches.dataset.texts_of(int(image)) for image in images)
        chosen = [
            random.choice(texts) if len(texts) else text
            for texts, text in zip(own, otherwise, strict=True)
        ]
        return np.array(chosen, dtype=np.int64)


def _joined(own: Int[ndarray, " own"], *others: Int[ndarray, " pair"]) -> Int[ndarray, " item"]:
    """The batch's own items, then each other item once."""
    return np.concatenate([own, np.setdiff1d(np.concatenate(others), own)])


def _rows(
    all_images: Int[ndarray, " image"],
    images: Int[ndarray, " pair"],
    all_texts: Int[ndarray, " text"],
    texts: Int[ndarray, " pair"],
) -> Int[Tensor, "pair 2"]:
    return torch.from_numpy(np.stack([_row(all_images, images), _row(all_texts, texts)], axis=1))


def _row(items: Int[ndarray, " item"], wanted: Int[ndarray, " pair"]) -> Int[ndarray, " pair"]:
    order = np.argsort(items)
    return order[np.searchsorted(items, wanted, sorter=order)]
