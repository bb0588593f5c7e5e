"""Where in a picture a noun is seen: a linear noun classifier read region by region."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.regions import IndexedRegions
from deixis.errors import DataError
from deixis.features.store.packed import PackedRegions
from deixis.features.words.vocabulary import split_words

_RIDGE = 0.1  # of the features' mean square
_SHARE = 0.6  # of the strongest evidence; regions above it belong to the thing


@dataclass(frozen=True)
class NounPlaces:
    """The evidence for each noun, linear in a region's feature.

    *Formula*: ridge regression from the mean feature of an image to whether its captions say the
    noun; applied to single regions it is the classifier's activation map.
    """

    nouns: dict[str, int]
    mean: Float[ndarray, " feature"]
    weight: Float[ndarray, "feature noun"]

    @classmethod
    def fit(cls, corpus: Corpus, placed: IndexedRegions, nouns: Sequence[str]) -> "NounPlaces":
        """Learn from the images of a corpus, all of them, and what their texts say."""
        if not nouns:
            raise DataError(f"no noun is frequent enough in the {len(corpus.texts)} texts")
        regions, places = placed
        means = np.stack([region_rows(regions, place)[0].mean(axis=0) for place in places.tolist()])
        known = {noun: column for column, noun in enumerate(nouns)}
        said = np.zeros((len(corpus.files), len(nouns)), dtype=np.float32)
        for text, owner in zip(corpus.texts, corpus.owners, strict=True):
            said[owner, [known[word] for word in split_words(text) if word in known]] = 1.0
        middle = means.mean(axis=0)
        means = means - middle
        square = means.T @ means
        square[np.diag_indices_from(square)] += _RIDGE * np.trace(square) / len(square)
        return cls(known, middle, np.linalg.solve(square, means.T @ (said - said.mean(axis=0))))

    def box(
        self, values: Float[ndarray, "region feature"], boxes: Float[ndarray, "region 5"], noun: str
    ) -> Float[ndarray, " 4"] | None:
        """The edges around the strongest evidence and what touches it; None where there is none."""
        evidence = (values - self.mean) @ self.weight[:, self.nouns[noun]]
        best = int(np.argmax(evidence))
        if evidence[best] <= 0:
            return None
        kept = _joined(evidence >= _SHARE * evidence[best], boxes, best)
        low, high = boxes[kept].min(axis=0), boxes[kept].max(axis=0)
        return np.array([low[0], high[1], low[2], high[3]])


def region_rows(
    regions: PackedRegions, place: int
) -> tuple[Float[ndarray, "region feature"], Float[ndarray, "region 5"]]:
    """The features and boxes of one image."""
    if regions.boxes is None:
        raise DataError("these features have no boxes to point at; choose features with boxes")
    rows = slice(regions.offsets[place], regions.offsets[place + 1])
    return regions.values[rows].astype(np.float32), regions.boxes[rows]


def _joined(
    kept: Bool[ndarray, " region"], boxes: Float[ndarray, "region 5"], start: int
) -> Bool[ndarray, " region"]:
    """The kept regions that hang together with one of them, edge by edge."""
    inside = np.zeros_like(kept)
    inside[start] = True
    while True:
        touched = kept & np.any([_touching(box, boxes) for box in boxes[inside]], axis=0)
        if np.array_equal(touched, inside):
            return inside
        inside = touched


def _touching(box: Float[ndarray, " 5"], boxes: Float[ndarray, "region 5"]) -> Bool[ndarray, " r"]:
    """Which boxes share an edge, or more, with one; corners alone do not count."""
    across = np.minimum(boxes[:, 1], box[1]) - np.maximum(boxes[:, 0], box[0])
    down = np.minimum(boxes[:, 3], box[3]) - np.maximum(boxes[:, 2], box[2])
    return (np.minimum(across, down) > -1e-4) & (np.maximum(across, down) > 1e-4)
