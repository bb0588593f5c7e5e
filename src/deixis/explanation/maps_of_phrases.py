"""Where in a picture each phrase of a text is, by the same map that scores pointing."""

from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray

from deixis.features.places.phrase_inputs import CharSpan
from deixis.features.places.phrase_map import shown_maps
from deixis.features.trace.phrases import phrases_of
from deixis.features.words.vocabulary import word_spans
from deixis.runs.places.place_head import StoredCells
from deixis.search.places.place_ranking import place_shares, stored_maps
from deixis.search.places.place_reader import PlaceReader
from deixis.search.places.pointed_phrases import PointedPhrases


@dataclass(frozen=True, slots=True)
class PhraseMap:
    """A phrase, by its characters, and how much of it each of 9 x 9 cells has; the sum is one.

    The map says where the phrase would be, not whether it is there at all.
    """

    span: CharSpan | None  # None for something unnamed
    cells: Float[ndarray, " 81"]
    share: float | None = None  # what pointing at it adds to the score


def phrase_maps(
    reader: PlaceReader, text: str, pointed: PointedPhrases | None, cells: StoredCells
) -> tuple[PhraseMap, ...]:
    """The maps of what was pointed at, then of the other phrases of the text, over one picture."""
    maps = []
    if pointed is not None:
        shares = place_shares(reader, pointed, cells)[0].tolist()
        found = stored_maps(pointed.phrases, cells)[0]
        listed = zip(pointed.spans, found, shares, strict=True)
        maps = [PhraseMap(span, shown_maps(own), share) for span, own, share in listed]
    taken = [one.span for one in maps if one.span is not None]
    rest = [span for span in _spans(text) if not any(_overlap(span, other) for other in taken)]
    if rest:
        found = stored_maps(reader.phrases(text, rest), cells)[0]
        maps += [PhraseMap(span, shown_maps(own)) for span, own in zip(rest, found, strict=True)]
    return tuple(maps)


def _spans(text: str) -> list[CharSpan]:
    words = word_spans(text)
    return [(words[one.first][0], words[one.last - 1][1]) for one in phrases_of(text)]


def _overlap(one: CharSpan, other: CharSpan) -> bool:
    return one[0] < other[1] and other[0] < one[1]
