"""A corpus with its features: what training and evaluation draw batches from."""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy import ndarray
from torch import Tensor

from deixis.data.batches.collate import regions_of, tokens_of
from deixis.data.corpus import Corpus
from deixis.errors import DataError
from deixis.features.store.packed import PackedRegions, PackedTokens
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
    _by_owner: Int[ndarray, " text"] = field(init=False, repr=False)  # texts, sorted by owner

    def __post_init__(self) -> None:
        if len(self.images) != len(self.corpus.files) or len(self.texts) != len(self.corpus.texts):
            raise DataError(
                f"corpus '{self.corpus.name}' has {len(self.corpus.files)} images and "
                f"{len(self.corpus.texts)} texts, its features {len(self.images)} and "
                f"{len(self.texts)}; extract the features again"
            )
        keys = self.corpus.pairs[:, 0].astype(np.int64) * len(self.texts) + self.corpus.pairs[:, 1]
        object.__setattr__(self, "_keys", np.sort(keys))
        object.__setattr__(self, "_by_owner", np.argsort(self.corpus.owners, kind="stable"))

    def keep(self, images: Bool[ndarray, " image"]) -> "Dataset":
        """Chosen images and the texts written for them, over the same features."""
        texts = images[self.corpus.owners]
        kept = self.corpus.keep(images=images)
        return Dataset(kept, self.regions, self.tokens, self.images[images], self.texts[texts])

    def texts_of(self, image: int) -> Int[ndarray, " text"]:
        """The texts written for an image."""
        start, end = np.searchsorted(self.corpus.owners, [image, image + 1], sorter=self._by_owner)
        return self._by_owner[start:end]

    def positives(
        self, images: Int[ndarray, " image"], texts: Int[ndarray, " text"]
    ) -> Bool[ndarray, "image text"]:
        """Which of some images and texts belong together."""
        wanted = images[:, None].astype(np.int64) * len(self.texts) + texts
        place = np.searchsorted(self._keys, wanted)
        return self._keys[np.minimum(place, len(self._keys) - 1)] == wanted

    def batch(self, images: Int[ndarray, " image"], texts: Int[ndarray, " text"]) -> Batch:
        """Gather images and texts of the split into one batch."""
        owners = self.corpus.owners[texts]
        return Batch(
            images=regions_of(self.regions, self.images[images]),
            texts=tokens_of(self.tokens, self.texts[texts]),
            positives=torch.from_numpy(self.positives(images, texts)),
            labels=self._labels(images),
            text_labels=self._labels(owners),
        )

    def _labels(self, images: Int[ndarray, " image"]) -> Tensor | None:
        labels = self.corpus.labels
        return None if labels is None else torch.from_numpy(labels[images].astype(np.float32))
