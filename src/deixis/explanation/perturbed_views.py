"""One picture as a model encodes it, whole and without each place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.errors import SearchError
from deixis.features.store.image_files import PictureSource
from deixis.runs.places.place_head import StoredCells
from deixis.search.encoders.embedded_parts import EmbeddedParts
from deixis.search.encoders.search_encoder import SearchEncoder

# Regions taken away; maps of phrases; or words alone, for models that see a picture as a whole.
Perturbation = Literal["removal", "places", "words"]


@dataclass(frozen=True, slots=True)
class PerturbedViews:
    """Embeddings of the picture, then of it without each place."""

    by: Perturbation
    parts: EmbeddedParts
    boxes: Float[ndarray, "place 5"]
    looks: Float[ndarray, "element place"]  # what each element of a set attends to
    cells: StoredCells | None = None  # of the picture, where phrases have maps over it


def whole_view(encoder: SearchEncoder, picture: PictureSource) -> PerturbedViews:
    """The picture as it is.

    No place of it is taken away: what a model of whole pictures loses when a place is covered
    peaks in the right box no more often than the picture's centre lies there.
    """
    encoded = encoder.encode_image([picture])
    if encoded.broken:
        named = picture if isinstance(picture, Path) else "the picture"
        raise SearchError(f"{named} cannot be explained: {next(iter(encoded.broken.values()))}")
    by: Perturbation = "words" if encoded.cells is None else "places"
    nothing = np.zeros((0, 5)), np.zeros((0, 0))
    return PerturbedViews(by, encoded.parts, *nothing, encoded.cells)
