"""What each part of a mixture adds to a picture's score and, where a model has regions, where."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.explanation.attribution import (
    Explanation,
    encoded_variants,
    perturbed,
    share_out,
    with_maps,
)
from deixis.features.store.image_files import PictureSource
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.query.query import Query


@dataclass(frozen=True, slots=True)
class MixedExplanation:
    """One explanation per part, all over the same places, and the scale of each part's score."""

    parts: tuple[Explanation, ...]
    scales: tuple[float, ...]

    @property
    def shares(self) -> list[float]:
        """What each part adds to the score."""
        return [scale * part.score for scale, part in zip(self.scales, self.parts, strict=True)]

    @property
    def places(self) -> Float[ndarray, " place"]:
        """What each place adds to the score, over all parts."""
        scaled = [scale * part.places for scale, part in zip(self.scales, self.parts, strict=True)]
        return np.sum(scaled, axis=0)


def explain_mixed(
    encoder: SearchEncoder,
    parts: Sequence[tuple[float, Query]],
    picture: PictureSource,
    check: Callable[[], None] = lambda: None,
) -> MixedExplanation:
    """Explain each part as a query of its own; the picture's views are computed once."""
    encoded = [encoded_variants(encoder, query) for _, query in parts]
    check()
    views = perturbed(encoder, picture)
    check()
    found = (share_out(encoder, variants, spans, views) for variants, spans in encoded)
    mapped = (
        with_maps(encoder, query, one, views) for (_, query), one in zip(parts, found, strict=True)
    )
    return MixedExplanation(tuple(mapped), tuple(scale for scale, _ in parts))
