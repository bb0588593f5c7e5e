"""A corpus with its features: what training and evaluation draw batches from."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy import ndarray

from deixis.data.collate import regions_of, tokens_of
from deixis.data.corpus import Corpus
from deixis.errors import DataError
from deixis.features.packed import PackedRegions, PackedTokens
from deixis.types import Batch


@dataclass(frozen=True)
class Dataset:
    """One split of a corpus with its features; ``images`` and ``texts`` are places in the packs."""

    corpus: Corpus  # the split alone
    regions: PackedRegions
    tokens: PackedTokens
    images: Int[ndarray, " image"]  # row of each image of the split in ``regions``
    texts: Int[ndarray, " text"]  # row of each text of the split in ``tokens``
    _keys: Int[ndarray, " pair"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.images) != len(self.corpus.files) or len(self.texts) != len(self.corpus.texts):
            raise DataError(
                f"corpus '{self.corpus.name}' has {len(self.corpus.files)} images and "
                f"{len(self.corpus.texts)} texts, its features {len(self.images)} and "
                f"{len(self.texts)}; extract the features again"
            )
        keys = self.corpus.pairs[:, 0].astype(np.int64) * len(self.texts) + self.corpus.pairs[:, 1]
        object.__setattr__(self, "_keys", np.sort(keys))

    def positives(
        self, images: Int[ndarray, " image"], texts: Int[ndarray, " text"]
    ) -> Bool[ndarray, "image text"]:
        """Which of some images and texts belong together."""
        wanted = images[:, None].astype(np.int64) * len(self.texts) + texts
        place = np.searchsorted(self._keys, wanted)
        return self._keys[np.minimum(place, len(self._keys) - 1)] == wanted

    def batch(self, images: Int[ndarray, " image"], texts: Int[ndarray, " text"]) -> Batch:
        """Gather images and texts of the split into one batch."""
        labels = self.corpus.labels
        return Batch(
            images=regions_of(self.regions, self.images[images]),
            texts=tokens_of(self.tokens, self.texts[texts]),
            positives=torch.from_numpy(self.positives(images, texts)),
            labels=None if labels is None else torch.from_numpy(labels[images].astype(np.float32)),
        )


@dataclass(frozen=True)
class PairBatches:
    """Batches of matching pairs: each text once an epoch with the image it was written for.

    An epoch's order depends on the seed and its number alone: a resumed run sees the same batches.
    """

    dataset: Dataset
    size: int
    seed: int

    def __len__(self) -> int:
        """Batches an epoch; a last short one is left out."""
        return max(1, len(self.dataset.texts) // self.size)

    def epoch(self, number: int) -> Iterator[Batch]:
        """The batches of one epoch."""
        order = np.random.default_rng((self.seed, number)).permutation(len(self.dataset.texts))
        for start in range(len(self)):
            texts = order[start * self.size : (start + 1) * self.size]
            yield self.dataset.batch(np.unique(self.dataset.corpus.owners[texts]), texts)
