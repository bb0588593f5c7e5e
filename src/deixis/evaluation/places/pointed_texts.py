"""Texts whose phrases people drew boxes for: the queries of the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.groundings.groundings import Groundings
from deixis.data.groundings.placed_phrase import GroundedPhrase
from deixis.errors import EvaluationError
from deixis.features.store.packed import offsets_of


@dataclass(frozen=True)
class PointedTexts:
    """Queries with a boxed phrase or more; query q owns ``phrases[offsets[q]:offsets[q + 1]]``."""

    texts: Int[ndarray, " query"]  # places among the texts of the corpus
    images: Int[ndarray, " query"]  # the image each was written for
    offsets: Int[ndarray, " query_plus_one"]
    phrases: tuple[GroundedPhrase, ...]  # in order of reading

    @classmethod
    def of(cls, corpus: Corpus, groundings: Groundings) -> "PointedTexts":
        """The texts of a split that people grounded."""
        texts, phrases, counts = [], [], []
        for text, found in enumerate(groundings.of_corpus(corpus)):
            boxed = [phrase for phrase in found or () if phrase.boxes]
            if boxed:
                texts.append(text)
                phrases += boxed
                counts.append(len(boxed))
        if not texts:
            raise EvaluationError(f"no text of corpus '{corpus.name}' has a phrase with a box")
        asked = np.array(texts)
        return cls(asked, corpus.owners[asked], offsets_of(counts), tuple(phrases))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def owners(self) -> Int[ndarray, " phrase"]:
        """The query each phrase belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def spans(self) -> list[list[tuple[int, int]]]:
        """The characters of each query's phrases."""
        ends = [(phrase.start, phrase.end) for phrase in self.phrases]
        return [ends[a:b] for a, b in zip(self.offsets, self.offsets[1:], strict=False)]

    def boxes(self) -> tuple[Float32[ndarray, "phrase box 5"], ndarray]:
        """The boxes of every phrase, padded, and which of them exist."""
        return padded_boxes([phrase.boxes for phrase in self.phrases])


def padded_boxes(
    boxes: Sequence[Sequence[Sequence[float]]],
) -> tuple[Float32[ndarray, "phrase box 5"], ndarray]:
    """Boxes of edges as one array with areas, and a mask."""
    longest = max(len(own) for own in boxes)
    values = np.zeros((len(boxes), longest, 5), np.float32)
    mask = np.zeros((len(boxes), longest), dtype=bool)
    for row, own in enumerate(boxes):
        values[row, : len(own), :4] = own
        mask[row, : len(own)] = True
    values[..., 4] = (values[..., 1] - values[..., 0]) * (values[..., 3] - values[..., 2])
    return values, mask
