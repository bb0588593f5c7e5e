"""Ranks without sorting, ties against the system."""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError

ROWS = 512  # queries judged at once; bounds the extra memory


def ranks(
    scores: Float[ndarray, "query item"], positives: Bool[ndarray, "query item"]
) -> Int[ndarray, " query"]:
    """Rank of each query's best-scored positive, 1 being first.

    An item that ties with it and is not a positive stands before it: a constant scorer must not
    look good. NaN is refused, because comparisons with it would count for the system.
    """
    if np.isnan(scores).any():
        query, item = np.argwhere(np.isnan(scores))[0]
        raise EvaluationError(f"score of query {query} with item {item} is NaN; nothing was ranked")
    without = np.flatnonzero(~positives.any(axis=1))
    if len(without):
        raise EvaluationError(f"query {without[0]} has no matching item ({len(without)} such)")
    out = np.empty(len(scores), dtype=np.int64)
    for start in range(0, len(scores), ROWS):
        rows = slice(start, start + ROWS)
        best = np.where(positives[rows], scores[rows], -np.inf).max(axis=1, keepdims=True)
        out[rows] = 1 + ((scores[rows] >= best) & ~positives[rows]).sum(axis=1)
    return out
