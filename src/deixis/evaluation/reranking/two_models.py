"""Re-ranking: a fast model ranks the gallery, a slow one re-ranks the top of it."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.measures import both_ways, rank_measures
from deixis.evaluation.positive_ranks import ranks
from deixis.evaluation.qrels import Qrels
from deixis.similarity.blocked.pair_scorer import PairScorer
from deixis.similarity.blocked.topk import nearest


@dataclass(frozen=True)
class Reranked:
    """What both directions rank by, and how many pairs the slow model scored for it."""

    i2t: Float[ndarray, "image text"]
    t2i: Float[ndarray, "text image"]
    pairs: int

    def measures(self, corpus: Corpus) -> dict[str, float]:
        """Measure both rankings over a whole split."""
        i2t = ranks(self.i2t, Qrels.of_pairs(corpus.pairs))
        t2i = ranks(self.t2i, Qrels.of_pairs(corpus.pairs[:, ::-1]))
        return both_ways(rank_measures(i2t), rank_measures(t2i))


def rerank(fast: Float[ndarray, "image text"], slow: PairScorer, depth: float) -> Reranked:
    """Re-score the best of every query's gallery; a pair both directions want, once.

    The order of the rest stays the fast model's, below everything re-scored.
    """
    texts_of = shortlist(fast, depth)
    images_of = shortlist(fast.T, depth)
    image, text = np.nonzero(texts_of | images_of.T)
    scores = np.full(fast.shape, -np.inf)
    scores[image, text] = slow(image, text)
    i2t, t2i = merged(fast, scores, texts_of), merged(fast.T, scores.T, images_of)
    return Reranked(i2t, t2i, len(image))


def shortlist(scores: Float[ndarray, "query item"], depth: float) -> Bool[ndarray, "query item"]:
    """The best of each query's items; of equal scores the lower index.

    Up to 1 the depth is a share of the gallery, rounded up; above, a number of items.
    """
    if depth <= 0 or (depth > 1 and depth != int(depth)):
        raise EvaluationError(
            f"the depth to re-rank is {depth:g}; it is a share above 0, up to 1, or a whole number"
        )
    # 0.07 · 100 is a little more than 7 in floating point, and must not become 8.
    count = math.ceil(depth * scores.shape[1] - 1e-9) if depth <= 1 else int(depth)
    chosen = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(chosen, nearest(scores, min(count, scores.shape[1])).items, True, axis=1)
    return chosen


def merged(
    fast: Float[ndarray, "query item"],
    slow: Float[ndarray, "query item"],
    chosen: Bool[ndarray, "query item"],
) -> Float[ndarray, "query item"]:
    """Scores that order the chosen items by the slow model, above the others by the fast one."""
    lowest = np.where(chosen, slow, np.inf).min(axis=1, keepdims=True)
    below = fast.astype(np.float64) - fast.max(axis=1, keepdims=True) - 1.0
    return np.where(chosen, slow - lowest, below)
