"""Measures of retrieval: a value per query first, then means."""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.evaluation.positive_ranks import Places

DEPTHS = (1, 5, 10)


def hits(ranked: Int[ndarray, " query"], k: int) -> Bool[ndarray, " query"]:
    """Which queries have a positive among the first k."""
    return ranked <= k


def hit_rate(ranked: Int[ndarray, " query"], k: int) -> float:
    """Share of queries, in percent, with a positive among the first k.

    Papers of the field print it as R@k. It is not recall: one of five texts found is a full hit.
    """
    return float(100.0 * np.mean(hits(ranked, k)))


def r_precision(placed: Places) -> Float[ndarray, " query"]:
    """Share of positives among the first R, where R is how many positives a query has."""
    sizes = placed.qrels.sizes
    inside = placed.places <= sizes[placed.qrels.owners]
    return _sums(placed, inside.astype(np.float64)) / sizes


def average_precision(placed: Places) -> Float[ndarray, " query"]:
    """Mean, over a query's positives, of the precision at the place of each; its mean is mAP."""
    return _sums(placed, placed.qrels.ordinals / placed.places) / placed.qrels.sizes


def average_precision_at_r(placed: Places) -> Float[ndarray, " query"]:
    """Average precision over the first R places only; its mean is mAP@R.

    *Paper*: Musgrave et al. 2020; the headline of ECCV Caption (Chun et al. 2022).
    """
    inside = placed.places <= placed.qrels.sizes[placed.qrels.owners]
    gained = np.where(inside, placed.qrels.ordinals / placed.places, 0.0)
    return _sums(placed, gained) / placed.qrels.sizes


def rank_measures(ranked: Int[ndarray, " query"]) -> dict[str, float]:
    """R@1, R@5, R@10, median and mean rank of one direction; the median is rounded down."""
    return {
        **{f"hit@{k}": hit_rate(ranked, k) for k in DEPTHS},
        "medr": float(np.floor(np.median(ranked))),
        "meanr": float(np.mean(ranked)),
    }


def precision_measures(placed: Places) -> dict[str, float]:
    """mAP@R and R-Precision of one direction, in percent."""
    return {
        "map@r": float(100.0 * average_precision_at_r(placed).mean()),
        "rprecision": float(100.0 * r_precision(placed).mean()),
    }


def both_ways(i2t: dict[str, float], t2i: dict[str, float]) -> dict[str, float]:
    """Name the measures of two directions and add RSUM, the sum of the six R@k."""
    out = {f"i2t_{key}": value for key, value in i2t.items()}
    out |= {f"t2i_{key}": value for key, value in t2i.items()}
    out["rsum"] = sum(out[f"{way}_hit@{k}"] for way in ("i2t", "t2i") for k in DEPTHS)
    return out


def _sums(placed: Places, values: Float[ndarray, " pair"]) -> Float[ndarray, " query"]:
    return np.add.reduceat(values, placed.qrels.starts)
