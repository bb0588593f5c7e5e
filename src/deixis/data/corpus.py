"""The corpus: images, texts, and which text describes which images."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.data.groundings.placed_phrase import PlacedPhrase
from deixis.data.in_memory import (
    Picture,
    Said,
    label_matrix,
    named_pictures,
    split_names_of,
    texts_and_owners,
)
from deixis.data.reindexed import Reindexed
from deixis.data.split_names import split_name
from deixis.errors import DataError
from deixis.features.store.image_files import PictureBytes
from deixis.features.trace.narration import Narration
from deixis.shapes import Bool, Int


@dataclass(frozen=True)
class Corpus:
    """Images and texts as columns; a row's place in a column is its index everywhere.

    ``owners[t]`` is the image text t was written for; ``pairs`` lists every (image, text) that
    belongs together, the owner's among them, so a text may describe many images.

    ```python
    corpus = deixis.read_corpus("photos")                        # from disk
    corpus = deixis.Corpus.from_pairs(pictures, captions)        # from memory
    corpus.split("train"), corpus.captions(), corpus.narrated()  # parts of it
    ```
    """

    name: str
    root: Path
    files: tuple[str, ...]  # one per image, relative to root, "/" between folders
    texts: tuple[str, ...]
    owners: Int[ndarray, " text"]
    pairs: Int[ndarray, "pair 2"]
    splits: tuple[str, ...]  # one per image
    labels: Bool[ndarray, "image label"] | None = None
    label_names: tuple[str, ...] = ()
    narrations: Mapping[int, Narration] = field(default_factory=dict)  # by text
    twins: Int[ndarray, "image 2"] | None = None  # group and place in it; -1 outside groups
    image_ids: Int[ndarray, " image"] | None = None  # numbers in the source, as COCO's; -1: none
    text_ids: Int[ndarray, " text"] | None = None
    phrases: tuple[PlacedPhrase, ...] = ()  # one per text, where texts are phrases
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # images in memory

    @classmethod
    def from_pairs(
        cls,
        images: Sequence[Picture],
        texts: Sequence[Said | Sequence[Said]],
        *,
        splits: str | Sequence[str] = "train",
        labels: Sequence[Sequence[str]] | None = None,
        name: str = "in memory",
    ) -> "Corpus":
        """A corpus of what is in memory: images, and for each its text or texts.

        An image is a path, a Pillow image, or RGB pixels; a text is a string, or a ``Narration``
        with its trace. ``splits`` and ``labels`` are per image.

        ```python
        corpus = deixis.Corpus.from_pairs([boat, kite], ["a red boat", ["a kite", "the sky"]])
        ```
        """
        if len(images) != len(texts):
            raise DataError(f"{len(images)} images but texts for {len(texts)}")
        files, contents = named_pictures(images)
        said, owners, narrations = texts_and_owners(texts)
        marked, label_names = label_matrix(labels)
        return cls(
            name=name,
            root=Path(),
            files=files,
            texts=said,
            owners=owners,
            pairs=np.stack([owners, np.arange(len(owners))], axis=1),
            splits=split_names_of(splits, len(images)),
            labels=marked,
            label_names=label_names,
            narrations=narrations,
            contents=contents,
        )

    def __post_init__(self) -> None:
        if len(self.splits) != len(self.files):
            raise DataError(f"{len(self.files)} images but {len(self.splits)} split names")
        if len(self.owners) != len(self.texts):
            raise DataError(f"{len(self.texts)} texts but {len(self.owners)} owners")

    def path(self, image: int) -> Path:
        """The path of an image's file."""
        return self.root / self.files[image]

    def source(self, image: int) -> Path | PictureBytes:
        """An image as it can be opened: its content if it is in memory, otherwise its file."""
        content = self.contents.get(self.files[image])
        return self.path(image) if content is None else PictureBytes(self.files[image], content)

    def split(self, name: str) -> "Corpus":
        """Keep the images of one split and the texts written for them; ``dev`` finds ``val``."""
        known = sorted(set(self.splits))
        found = name if name in known else split_name(name)
        if found not in known:
            raise DataError(
                f"corpus '{self.name}' has no split '{name}'; it has: {', '.join(known)}"
            )
        return self.keep(images=np.array([split == found for split in self.splits]))

    def first(self, count: int) -> "Corpus":
        """Keep the first images of each split, at most so many."""
        splits = np.array(self.splits)
        kept = np.zeros(len(splits), dtype=bool)
        for split in set(self.splits):
            kept[np.flatnonzero(splits == split)[:count]] = True
        return self.keep(images=kept)

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
            phrases=tuple(self.phrases[t] for t in kept_texts) if self.phrases else (),
            narrations=Reindexed(
                self.narrations, {int(new_text[t]): t for t in self.narrations if texts[t]}
            ),
        )

    def positives(self) -> Bool[ndarray, "image text"]:
        """Which image and text belong together, as a full mask; for small corpora."""
        mask = np.zeros((len(self.files), len(self.texts)), dtype=bool)
        mask[self.pairs[:, 0], self.pairs[:, 1]] = True
        return mask


def split_sha(corpus: Corpus) -> str:
    """A hash of what is ranked: files, texts and pairs, in order."""
    digest = hashlib.sha256()
    for line in (*corpus.files, *corpus.texts):
        digest.update(line.encode() + b"\n")
    digest.update(corpus.pairs.astype("<i8").tobytes())
    return digest.hexdigest()[:16]
