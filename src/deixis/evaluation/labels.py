"""Measures where relevance has degrees or is a set of labels."""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError

Gain = Literal["linear", "exponential"]


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
    if np.isnan(scores).any():
        raise EvaluationError("a score is NaN; nothing was ranked")
    k = min(k, scores.shape[1])
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    reached = np.stack([_first(row, grade, k) for row, grade in zip(scores, grades, strict=True)])
    ideal = -np.partition(-grades, k - 1, axis=1)[:, :k]
    found = _gains(reached, gain) @ discounts
    best = _gains(-np.sort(-ideal, axis=1), gain) @ discounts
    return np.divide(found, best, out=np.zeros_like(found), where=best > 0)


def micro_f1(truth: Bool[ndarray, "item label"], told: Bool[ndarray, "item label"]) -> float:
    """F1 of all label decisions pooled; 0 when nothing is true and nothing was told."""
    wrong, right = np.count_nonzero(truth != told), np.count_nonzero(truth & told)
    return 2 * right / (2 * right + wrong) if right else 0.0


def shared_labels(
    queries: Bool[ndarray, "query label"], items: Bool[ndarray, "item label"]
) -> Int[ndarray, "query item"]:
    """Grade a pair by how many labels it shares."""
    return (queries.astype(np.float32) @ items.astype(np.float32).T).astype(np.int32)


def _first(row: Float[ndarray, " item"], grades: Int[ndarray, " item"], k: int) -> ndarray:
    """Grades of the first k items; only those that may be among them are sorted."""
    bar = np.partition(row, len(row) - k)[len(row) - k]
    near = np.flatnonzero(row >= bar)
    return grades[near][np.lexsort((grades[near], -row[near]))][:k]


def _gains(grades: Int[ndarray, "query place"], gain: Gain) -> Float[ndarray, "query place"]:
    return np.exp2(grades) - 1.0 if gain == "exponential" else grades.astype(np.float64)
