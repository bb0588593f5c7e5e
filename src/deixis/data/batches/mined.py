"""Batches with mined negatives added."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray
from torch import Tensor

from deixis.data.batches.images import ImageBatches
from deixis.data.batches.pairs import PairBatches
from deixis.data.negatives.mined_negatives import MinedNegatives
from deixis.errors import DataError
from deixis.types import Batch, Offline

Sampler = Literal["uniform", "normal"]
SPREAD = 1 / 6  # of a list: three deviations either side of the middle reach its ends


@dataclass(frozen=True)
class OfflineSpec:
    """How many negatives are mined, and how they are drawn; five texts per image give the ratio."""

    by: str = ""  # the earlier row whose model mines, a run folder, or one of released lists
    texts: int = 300  # of each image
    images: int = 60  # of each text
    sampler: Sampler = "uniform"
    coupled: bool = False  # one draw for both lists, as in the released code


@dataclass(frozen=True)
class MinedBatches:
    """For every matching pair a hard text and a hard image, drawn again at each step.

    ``normal`` draws from the middle of the lists rather than evenly, so that the very first,
    which may be unlabelled matches, come seldom.
    *Paper*: AOQ 2020, section 3.2. In the released code one draw serves both lists, so that a pair
    meets negatives of like hardness on both sides (``coupled``); else each list has its own.
    """

    batches: PairBatches | ImageBatches
    negatives: MinedNegatives
    sampler: Sampler = "uniform"
    coupled: bool = False
    partners: bool = True  # also the items that mined ones belong to, which quintuplets need

    def __post_init__(self) -> None:
        found = len(self.negatives.texts), len(self.negatives.images)
        wanted = len(self.batches.dataset.images), len(self.batches.dataset.texts)
        if found != wanted:
            raise DataError(f"negatives of {found} images and texts, but the split has {wanted}")

    def __len__(self) -> int:
        """Batches per epoch."""
        return len(self.batches)

    def at(self, step: int) -> Batch:
        """The batch of a step with its negatives behind its own items."""
        dataset, (images, texts) = self.batches.dataset, self.batches.items(step)
        row, column = dataset.positives(images, texts).nonzero()
        random = np.random.default_rng((self.batches.seed, step, 2))
        lists = self.negatives.texts, self.negatives.images
        depth = self._depths(lists[0].shape[1], len(row), random)
        hard_text = lists[0][images[row], depth].astype(np.int64)
        if self.coupled:
            depth = depth * lists[1].shape[1] // lists[0].shape[1]
        else:
            depth = self._depths(lists[1].shape[1], len(row), random)
        hard_image = lists[1][texts[column], depth].astype(np.int64)
        mined = [(hard_image, hard_text)]
        if self.partners:
            of_image = self._texts(hard_image, hard_text, random)
            mined.append((dataset.corpus.owners[hard_text], of_image))
        all_images = _joined(images, *(one for one, _ in mined))
        all_texts = _joined(texts, *(one for _, one in mined))
        rows = [_rows(all_images, some, all_texts, others) for some, others in mined]
        offline = Offline(
            len(images), len(texts), torch.from_numpy(np.stack([row, column], axis=1)), *rows
        )
        return replace(dataset.batch(all_images, all_texts), offline=offline)

    def _depths(
        self, length: int, count: int, random: np.random.Generator
    ) -> Int[ndarray, " pair"]:
        """How far down a list of some length each pair's negative stands."""
        if self.sampler == "uniform":
            return random.integers(length, size=count)
        drawn = random.normal(0.5, SPREAD, size=count) * length
        return drawn.astype(np.int64).clip(0, length - 1)

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
