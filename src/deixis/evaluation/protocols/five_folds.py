"""Folds of a split, each ranked alone, as COCO's "1K" numbers are (five folds of 5K)."""

from collections.abc import Iterable, Iterator

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.evaluation.measures import both_ways, rank_measures
from deixis.evaluation.positive_ranks import Ties, ranks
from deixis.evaluation.qrels import Qrels
from deixis.evaluation.result import WAYS, Ranks


def consecutive(images: int, folds: int) -> Int[ndarray, " image"]:
    """The fold of each image, in blocks of one size."""
    size, rest = divmod(images, folds)
    if rest or not size:
        raise EvaluationError(
            f'{images} images do not make {folds} equal folds; judge = "whole" ranks them as one'
        )
    return np.arange(images) // size


def ranks_in_folds(
    scores: Float[ndarray, "image text"],
    pairs: Int[ndarray, "pair 2"],
    of_image: Int[ndarray, " image"],
    of_text: Int[ndarray, " text"],
    ties: Ties = "against the system",
) -> Iterator[Ranks]:
    """Rank each fold's images and texts among themselves, both ways."""
    fold_of_pair = np.where(
        of_image[pairs[:, 0]] == of_text[pairs[:, 1]], of_image[pairs[:, 0]], -1
    )
    for fold in np.unique(of_image):
        images, texts = np.flatnonzero(of_image == fold), np.flatnonzero(of_text == fold)
        inside = pairs[fold_of_pair == fold]
        places = (np.searchsorted(images, inside[:, 0]), np.searchsorted(texts, inside[:, 1]))
        alone = scores[np.ix_(images, texts)]
        yield {
            "i2t": ranks(alone, Qrels.of_pairs(np.stack(places, axis=1)), ties),
            "t2i": ranks(alone.T, Qrels.of_pairs(np.stack(places[::-1], axis=1)), ties),
        }


def mean_of_folds(folds: Iterable[Ranks]) -> tuple[dict[str, float], Ranks]:
    """Average every measure over the folds, RSUM the sum of the mean R@k; and join their ranks."""
    folds = list(folds)
    measured = [both_ways(*(rank_measures(fold[way]) for way in WAYS)) for fold in folds]
    means = {key: float(np.mean([fold[key] for fold in measured])) for key in measured[0]}
    return means, {way: np.concatenate([fold[way] for fold in folds]) for way in WAYS}
