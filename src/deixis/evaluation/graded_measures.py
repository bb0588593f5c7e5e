"""Measures where relevance has degrees or is a set of labels."""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError

Gain = Literal["linear", "exponential"]
SAMPLE = 1024  # sampled items from which the k-th score is estimated


def ndcg(
    scores: Float[ndarray, "query item"],
    grades: Int[ndarray, "query item"],
    k: int,
    gain: Gain = "linear",
) -> Float[ndarray, " query"]:
    """Discounted gain of the first k over the best that the gallery allows.

    *Formula*: ``sum g_r / log2(r + 1)`` over places r, ``g`` the grade or ``2^grade - 1``. A
    gallery smaller than k is taken whole; tied items stand worst first; a query to which nothing
    is relevant scores 0.
    """
    if np.isnan(scores.min(initial=0.0)):
        raise EvaluationError("a score is NaN; nothing was ranked")
    k = min(k, scores.shape[1])
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    each = zip(scores, grades, strict=True)
    found = np.array([_gains(_first(row, own, k), gain) @ discounts for row, own in each])
    reach = np.concatenate([[0.0], np.cumsum(discounts)])
    best = np.array([_ideal(own, reach, gain) for own in grades])
    return np.divide(found, best, out=np.zeros_like(found), where=best > 0)


def micro_f1(truth: Bool[ndarray, "item label"], predicted: Bool[ndarray, "item label"]) -> float:
    """F1 of all label decisions pooled; 0 when nothing is true and nothing is predicted."""
    wrong, right = np.count_nonzero(truth != predicted), np.count_nonzero(truth & predicted)
    return 2 * right / (2 * right + wrong) if right else 0.0


def shared_labels(
    queries: Bool[ndarray, "query label"], items: Bool[ndarray, "item label"]
) -> Int[ndarray, "query item"]:
    """Grade a pair by how many labels it shares."""
    return (queries.astype(np.float32) @ items.astype(np.float32).T).astype(np.int16)


def _first(
    row: Float[ndarray, " item"], grades: Int[ndarray, " item"], k: int
) -> Int[ndarray, " place"]:
    """Grades of the first k items; only those that may be among them are sorted."""
    near = _near(row, k)
    scores, own = row[near], grades[near]
    order = np.argsort(-scores)
    ranked = scores[order]
    if (ranked[1:] == ranked[:-1]).any():
        order = np.lexsort((own, -scores))
    return own[order[:k]]


def _near(row: Float[ndarray, " item"], k: int) -> Int[ndarray, " near"]:
    """Items among which the first k are: all above a bar that a sample suggests.

    A sample is sorted in a tenth of the time; where it misleads, the bar is the k-th score.
    """
    sample = row[:: max(1, len(row) // SAMPLE)]
    above = int(1.2 * k * len(sample) / len(row)) + 10
    if above < len(sample):
        near = np.flatnonzero(row >= np.partition(sample, -above)[-above])
        if len(near) >= k:
            return near
    return np.flatnonzero(row >= np.partition(row, len(row) - k)[len(row) - k])


def _ideal(grades: Int[ndarray, " item"], reach: Float[ndarray, " count"], gain: Gain) -> float:
    """The best sum there is, by counting: the items of grade g or more fill the first places."""
    k, total = len(reach) - 1, 0.0
    for grade in range(1, int(grades.max(initial=0)) + 1):
        step = 2.0 ** (grade - 1) if gain == "exponential" else 1.0
        total += step * reach[min(k, int(np.count_nonzero(grades >= grade)))]
    return total


def _gains(grades: Int[ndarray, " place"], gain: Gain) -> Float[ndarray, " place"]:
    exact = grades.astype(np.float64)
    return np.exp2(exact) - 1.0 if gain == "exponential" else exact
