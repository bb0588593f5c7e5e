"""An interval of a mean over queries that come in groups, one group per image."""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

DRAWS = 2_000


def interval_over_images(
    values: Float[ndarray, " query"], images: Int[ndarray, " query"], seed: int = 0
) -> tuple[float, float, float]:
    """The mean and its 95 % interval; images are drawn with replacement, with all their queries.

    Of a difference between two models on the same queries it is a paired interval.
    """
    _, image = np.unique(images, return_inverse=True)
    sums, counts = np.bincount(image, values), np.bincount(image)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(np.mean(values)), float(low), float(high)
