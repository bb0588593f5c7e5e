"""The corpus: images, texts, and which text describes which images."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from deixis.data.renumbered import Renumbered
from deixis.errors import DataError
from deixis.features.narration import Narration


@dataclass(frozen=True)
class Corpus:
    """Images and texts as columns; a row's place in a column is its index everywhere.

    ``owners[t]`` is the image text t was written for; ``pairs`` lists every (image, text) that
    belongs together, the owner's among them, so a text may describe many images.
    """

    name: str
    root: Path
    files: tuple[str, ...]  # one an image, relative to root, "/" between folders
    texts: tuple[str, ...]
    owners: Int[ndarray, " text"]
    pairs: Int[ndarray, "pair 2"]
    splits: tuple[str, ...]  # one an image
    labels: Bool[ndarray, "image label"] | None = None
    label_names: tuple[str, ...] = ()
    narrations: Mapping[int, Narration] = field(default_factory=dict)  # by text
    twins: Int[ndarray, "image 2"] | None = None  # group and place in it; -1 outside groups
    image_ids: Int[ndarray, " image"] | None = None  # numbers in the source, as COCO's; -1: none
    text_ids: Int[ndarray, " text"] | None = None

    def __post_init__(self) -> None:
        if len(self.splits) != len(self.files):
            raise DataError(f"{len(self.files)} images but {len(self.splits)} split names")
        if len(self.owners) != len(self.texts):
            raise DataError(f"{len(self.texts)} texts but {len(self.owners)} owners")

    def path(self, image: int) -> Path:
        """Where an image's file lies."""
        return self.root / self.files[image]

    def split(self, name: str) -> "Corpus":
        """Keep the images of one split and the texts written for them."""
        known = sorted(set(self.splits))
        if name not in known:
            raise DataError(f"corpus '{self.name}' has no split '{name}'; it has: {known}")
        return self.keep(images=np.array([split == name for split in self.splits]))

    def captions(self) -> "Corpus":
        """Keep the texts without a narration."""
        return self.keep(texts=~self._narrated())

    def narrated(self) -> "Corpus":
        """Keep the texts with a narration."""
        return self.keep(texts=self._narrated())

    def _narrated(self) -> Bool[ndarray, " text"]:
        narrated = np.zeros(len(self.texts), dtype=bool)
        narrated[np.fromiter(self.narrations, dtype=np.int64, count=len(self.narrations))] = True
        return narrated

    def keep(
        self,
        images: Bool[ndarray, " image"] | None = None,
        texts: Bool[ndarray, " text"] | None = None,
    ) -> "Corpus":
        """Keep chosen images, and of the texts written for them the chosen ones."""
        images = np.ones(len(self.files), dtype=bool) if images is None else images
        texts = np.ones(len(self.texts), dtype=bool) if texts is None else texts
        texts = texts & images[self.owners]
        new_image, new_text = np.cumsum(images) - 1, np.cumsum(texts) - 1
        inside = images[self.pairs[:, 0]] & texts[self.pairs[:, 1]]
        pairs = self.pairs[inside]
        kept_images, kept_texts = np.flatnonzero(images), np.flatnonzero(texts)
        return replace(
            self,
            files=tuple(self.files[i] for i in kept_images),
            splits=tuple(self.splits[i] for i in kept_images),
            texts=tuple(self.texts[t] for t in kept_texts),
            owners=new_image[self.owners[texts]],
            pairs=np.stack([new_image[pairs[:, 0]], new_text[pairs[:, 1]]], axis=1),
            labels=None if self.labels is None else self.labels[images],
            twins=None if self.twins is None else self.twins[images],
            image_ids=None if self.image_ids is None else self.image_ids[images],
            text_ids=None if self.text_ids is None else self.text_ids[texts],
            narrations=Renumbered(
                self.narrations, {int(new_text[t]): t for t in self.narrations if texts[t]}
            ),
        )

    def positives(self) -> Bool[ndarray, "image text"]:
        """Which image and text belong together, as a full mask; for small corpora."""
        mask = np.zeros((len(self.files), len(self.texts)), dtype=bool)
        mask[self.pairs[:, 0], self.pairs[:, 1]] = True
        return mask
