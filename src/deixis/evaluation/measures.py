"""Measures of the field, each a mean over queries."""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.evaluation.ranks import ranks


def hit_rate(ranked: Int[ndarray, " query"], k: int) -> float:
    """Share of queries, in percent, with a positive among the first k.

    Papers of the field print it as R@k. It is not recall: one of five texts found is a full hit.
    """
    return float(100.0 * np.mean(ranked <= k))


def both_ways(
    scores: Float[ndarray, "image text"], positives: Bool[ndarray, "image text"]
) -> dict[str, float]:
    """R@1, R@5, R@10, median and mean rank in both directions, and RSUM, the sum of the six R@k."""
    out: dict[str, float] = {}
    for name, ranked in (
        ("i2t", ranks(scores, positives)),
        ("t2i", ranks(scores.T, positives.T)),
    ):
        out |= {f"{name}_hit@{k}": hit_rate(ranked, k) for k in (1, 5, 10)}
        out[f"{name}_medr"] = float(np.floor(np.median(ranked)))
        out[f"{name}_meanr"] = float(np.mean(ranked))
    out["rsum"] = sum(value for key, value in out.items() if "_hit@" in key)
    return out
