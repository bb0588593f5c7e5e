"""The closed-form scores of a random ranking."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.evaluation.measures import DEPTHS, both_ways
from deixis.evaluation.protocols.five_folds import consecutive
from deixis.evaluation.qrels import Qrels


def chance(corpus: Corpus) -> dict[str, float]:
    """Expected measures of a random order over a split, by the names of a Result.

    >>> import numpy as np
    >>> one_of_four = np.array([1])
    >>> expected(one_of_four, gallery=4)["hit@1"]
    25.0
    """
    i2t = Qrels.of_pairs(corpus.pairs).sizes
    t2i = Qrels.of_pairs(corpus.pairs[:, ::-1]).sizes
    return both_ways(expected(i2t, len(corpus.texts)), expected(t2i, len(corpus.files)))


def chance_in_folds(
    corpus: Corpus,
    of_corpus: Callable[[Corpus], dict[str, float]] = chance,
    folds: int = 5,
) -> dict[str, float]:
    """The mean of chance over consecutive folds, each evaluated on its own."""
    of_image = consecutive(len(corpus.files), folds)
    found = [of_corpus(corpus.keep(images=of_image == fold)) for fold in range(folds)]
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def expected(positives: Int[ndarray, " query"], gallery: int) -> dict[str, float]:
    """Expected measures of one direction, from how many positives each query has.

    The median rank is the median of the rank's distribution over all queries and orders.
    """
    sizes, counts = np.unique(positives, return_counts=True)
    share = counts / counts.sum()
    found = share @ np.stack([_found(int(size), gallery) for size in sizes])
    return {
        **{f"hit@{k}": float(100.0 * found[min(k, gallery) - 1]) for k in DEPTHS},
        "medr": float(1 + np.argmax(found >= 0.5)),
        "meanr": float(share @ ((gallery + 1) / (sizes + 1))),
        "map@r": float(100.0 * share @ [_map_at_r(int(size), gallery) for size in sizes]),
        "rprecision": float(100.0 * share @ (sizes / gallery)),
    }


def _found(positives: int, gallery: int) -> Float[ndarray, " place"]:
    """Chance that a positive stands among the first 1, 2, 3 … items, drawn without replacement."""
    drawn = np.arange(gallery)
    return 1.0 - np.cumprod(np.maximum(gallery - positives - drawn, 0) / (gallery - drawn))


def _map_at_r(positives: int, gallery: int) -> float:
    """A place r holds a positive by R/N; then (r-1)(R-1)/(N-1) others are expected before it."""
    place = np.arange(1, positives + 1)
    others = (place - 1) * (positives - 1) / max(1, gallery - 1)
    return float(np.sum((1 + others) / place) / gallery)
