"""The best items of every query, both ways, while the blocks stream by."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.similarity.base import Similarity
from deixis.similarity.blocks import BUDGET, score_blocks
from deixis.similarity.strips import strips
from deixis.types import Embedding

NOTHING = np.iinfo(np.int64).min
LAST = 2**32 - 1  # the lower half of a key counts down from here
MAGNITUDE = np.int32(2**31 - 1)  # every bit of a float32 but its sign


@dataclass(frozen=True)
class Nearest:
    """The best items of each query, best first; of equal scores the lower index first."""

    items: Int[ndarray, "query k"]
    scores: Float[ndarray, "query k"]


def top_k(
    similarity: Similarity, images: Embedding, texts: Embedding, k: int, budget: int = BUDGET
) -> tuple[Nearest, Nearest]:
    """The k best texts of each image and the k best images of each text, in one pass.

    The full matrix never exists: a block is scored, its candidates join the best so far, and it
    is forgotten. A side with fewer than k items gives all it has. Scores compare as float32.
    """
    texts_of, images_of = _empty(len(images), k, len(texts)), _empty(len(texts), k, len(images))
    with torch.no_grad():
        for here, there, block in score_blocks(similarity, images, texts, budget):
            scores = block.float().numpy(force=True)
            _compete(texts_of[here], scores, there.start)
            _compete(images_of[there], scores.T, here.start)
    return _decoded(texts_of), _decoded(images_of)


def nearest(scores: Float[ndarray, "query item"], k: int) -> Nearest:
    """The k best items of each row of a ready matrix."""
    keys = _empty(len(scores), k, scores.shape[1])
    _compete(keys, scores.astype(np.float32, copy=False), 0)
    return _decoded(keys)


def _empty(queries: int, k: int, items: int) -> Int[ndarray, "query k"]:
    return np.full((queries, min(k, items)), NOTHING)


def _compete(
    best: Int[ndarray, "query k"], scores: Float[ndarray, "query item"], first: int
) -> None:
    """Let a block's items compete with the best so far, in place.

    An item is one whole number, score above, index below, so that selecting is exact where
    selecting by score alone would be arbitrary among ties. Only what can still win becomes one.
    """
    k = best.shape[1]
    for some, strip in strips(scores, np.arange(len(scores))):
        if np.isnan(strip.min()):
            raise EvaluationError("a score is NaN; nothing was selected")
        bars = _score(best[some].min(axis=1))
        if strip.shape[1] > k:
            bars = np.maximum(bars, np.partition(strip, -k, axis=1)[:, -k])
        rows, items = np.nonzero(strip >= bars[:, None])
        new = _ragged(rows, _keys(strip[rows, items], items + first), len(strip))
        joined = np.concatenate([best[some], new], axis=1)
        best[some] = np.partition(joined, -k, axis=1)[:, -k:]


def _ragged(
    rows: Int[ndarray, " candidate"], keys: Int[ndarray, " candidate"], height: int
) -> Int[ndarray, "row place"]:
    """Candidates in row order, as a matrix as wide as the fullest row."""
    counts = np.bincount(rows, minlength=height)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    out = np.full((height, counts.max(initial=0)), NOTHING)
    out[rows, places] = keys
    return out


def _keys(
    scores: Float[ndarray, " candidate"], items: Int[ndarray, " candidate"]
) -> Int[ndarray, " candidate"]:
    """Score and item as one number that orders by score, then by lower item."""
    # A float's bits order as a whole number does once the negative ones are turned round; adding
    # zero makes -0.0 and 0.0 one score.
    bits = (scores + np.float32(0)).view(np.int32)
    return (_turned(bits).astype(np.int64) << 32) + (LAST - items)


def _score(keys: Int[ndarray, "*key"]) -> Float[ndarray, "*key"]:
    bits = _turned((keys >> 32).astype(np.int32)).view(np.float32)
    return np.where(keys == NOTHING, np.float32(-np.inf), bits)


def _turned(bits: Int[ndarray, "*key"]) -> Int[ndarray, "*key"]:
    return np.where(bits < 0, bits ^ MAGNITUDE, bits)


def _decoded(keys: Int[ndarray, "query k"]) -> Nearest:
    best = -np.sort(-keys, axis=1)
    return Nearest(LAST - (best & LAST), _score(best))
