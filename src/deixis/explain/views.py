"""One picture as a model sees it, and as it would without each place."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from numpy import ndarray

from deixis.search.parts import Parts

By = Literal["removal", "covering"]


@dataclass(frozen=True, slots=True)
class Views:
    """Embeddings of the picture, then of it without each place.

    Where places are covered, the second embedding is of a copy in which nothing is: copies differ
    from the picture itself by their size, so what a place counts for is told against that one.
    """

    by: By
    parts: Parts
    boxes: Float[ndarray, "place 5"]
    looks: Float[ndarray, "element place"]  # what each element of a set looks at; no sets: no rows
    copied: bool = False
