"""t-SNE: points of many dimensions on a plane."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.extras import need


def tsne(points: Float[ndarray, "point dim"], seed: int = 0) -> Float[ndarray, "point 2"]:
    """Place points so that neighbours stay neighbours; the same points give the same plane.

    Distances on the plane carry no meaning beyond that.
    """
    need("sklearn", "report")
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(points) - 1) / 3)
    plane = TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1)
    return np.asarray(plane.fit_transform(points), dtype=np.float32)
