"""What a query points at, as vectors and regions."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.features.places.phrase_inputs import CharSpan
from deixis.features.places.pointed_region import region_of_boxes
from deixis.features.trace.alignment import AlignedBy
from deixis.features.trace.drawing import Drawing
from deixis.search.places.drawn_places import drawn_places
from deixis.search.places.place_reader import PlaceReader
from deixis.shapes import Float32

AS_TRAINED = 0.5  # the drawing's weight at which places count as they were trained to


@dataclass(frozen=True, slots=True)
class PointedPhrases:
    """A vector and a region per phrase, and how much they count: 1 as they were trained to."""

    spans: tuple[CharSpan | None, ...]  # characters of the text; None for something unnamed
    phrases: Float32[ndarray, "phrase dim"]
    regions: Float32[ndarray, "phrase 81"]
    strength: float

    def __len__(self) -> int:
        return len(self.spans)


def pointed_phrases(
    reader: PlaceReader, text: str, drawing: Drawing
) -> tuple[PointedPhrases | None, AlignedBy]:
    """Encode what a query points at; None without strokes in the picture or with weight 0."""
    places, how = drawn_places(text, drawing)
    if not places or drawing.weight == 0:
        return None, how
    spans = tuple(place.span for place in places)
    named = [span for span in spans if span is not None]
    vectors = iter(reader.phrases(text, named))
    phrases = np.stack([reader.anything if span is None else next(vectors) for span in spans])
    regions = np.stack([region_of_boxes(place.boxes) for place in places])
    return PointedPhrases(spans, phrases, regions, drawing.weight / AS_TRAINED), how
