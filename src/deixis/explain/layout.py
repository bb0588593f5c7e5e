"""Many dimensions drawn on a plane."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.errors import RunError


def tsne(points: Float[ndarray, "point dim"], seed: int = 0) -> Float[ndarray, "point 2"]:
    """Neighbours stay neighbours, distances do not count; the same points give the same plane."""
    try:
        from sklearn.manifold import TSNE  # noqa: PLC0415
    except ImportError as error:
        raise RunError("t-SNE needs scikit-learn; install deixis[report]") from error
    perplexity = min(30.0, (len(points) - 1) / 3)
    plane = TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1)
    return np.asarray(plane.fit_transform(points), dtype=np.float32)
