"""Queries as vectors, encoded together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.errors import DeixisError, SearchError
from deixis.features.trace.alignment import align
from deixis.features.trace.boxes_of_trace import box_around, samples_of
from deixis.features.trace.cleaning import clean_strokes, whole_scene
from deixis.features.trace.drawing import Drawing
from deixis.search.encoders.embedded_parts import EmbeddedParts
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.places.place_reader import PlaceReader
from deixis.search.places.pointed_phrases import PointedPhrases, pointed_phrases
from deixis.search.query.query import Note, Query
from deixis.shapes import Float32

Vectors = Float32[ndarray, "_ dim"]

NOT_ALIGNED = Note(
    "trace_not_aligned",
    "which stroke goes with which words is not clear: the trace was read as a whole",
)
ALL_UNNAMED = Note(
    "trace_not_aligned",
    "which stroke goes with which words is not clear: each was read as “something is here”",
)
TOO_WIDE = Note(
    "trace_too_wide", "the trace covers most of the canvas and points at little: it counts half"
)


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """One query's vectors: of text and strokes together, and of the text alone."""

    whole: Vectors
    text: Vectors | None = None  # only when strokes were drawn
    notes: tuple[Note, ...] = ()
    pointed: PointedPhrases | None = None  # places that order again what the text recalls
    terms: tuple[tuple[float, Vectors], ...] = ()  # of a mixture: what is added, and how often


def encode_queries(
    encoder: SearchEncoder, queries: Sequence[Query]
) -> list[EncodedQuery | DeixisError]:
    """Encode queries: all texts in one batch, all traces in one, all pictures in one."""
    encoded: dict[int, EncodedQuery | DeixisError] = {}
    places = [place for place, query in enumerate(queries) if query.text is not None]
    texts = encode_texts(encoder, [(q.text, q.drawing) for q in queries if q.text is not None])
    encoded.update((place, _finite(one)) for place, one in zip(places, texts, strict=True))
    encoded.update(_pictures(encoder, queries))
    return [encoded[place] for place in range(len(queries))]


def encode_texts(
    encoder: SearchEncoder, drawn: Sequence[tuple[str, Drawing]]
) -> list[EncodedQuery]:
    """Encode texts, and where strokes were drawn both together, mixed by the drawing's weight."""
    if not drawn:
        return []
    texts = encoder.encode_text([text for text, _ in drawn])
    encoded = [EncodedQuery(vectors) for _, vectors in _each(range(len(drawn)), texts)]
    traced = [place for place, (_, drawing) in enumerate(drawn) if drawing.strokes]
    if encoder.places is not None:
        for place in traced:
            encoded[place] = _placed(encoder.places, encoded[place], *drawn[place])
        return encoded
    if not encoder.reads_traces or not traced:
        return encoded
    # Each as if it had been spoken, every stroke drawn while its words are said.
    aligned = {place: align(*drawn[place]) for place in traced}
    narrations = [one.narration for one in aligned.values()]
    for place, both in _each(traced, encoder.encode_narration(narrations)):
        drawing, text = drawn[place][1], encoded[place].whole
        wide = _is_wide(drawing)
        weight = np.float32(drawing.weight * (0.5 if wide else 1.0))
        notes = [NOT_ALIGNED] if aligned[place].how == "not aligned" else []
        notes += [TOO_WIDE] if wide else []
        encoded[place] = EncodedQuery((1 - weight) * text + weight * both, text, tuple(notes))
    return encoded


def _placed(reader: PlaceReader, text: EncodedQuery, said: str, drawing: Drawing) -> EncodedQuery:
    """A text with the places of its phrases; the very same query where they count nothing."""
    pointed, how = pointed_phrases(reader, said, drawing)
    if pointed is None:
        return text
    notes = (ALL_UNNAMED,) if how == "not aligned" else ()
    return EncodedQuery(text.whole, text.whole, notes, pointed)


def _is_wide(drawing: Drawing) -> bool:
    """Whether most strokes cover so much of the canvas that they point at nothing."""
    samples = [samples_of([stroke]) for stroke in clean_strokes(drawing.strokes)]
    boxes = [box_around(rows) for rows in samples if len(rows)]
    return bool(boxes) and bool(whole_scene(np.array(boxes)).mean() > 0.5)


def _pictures(
    encoder: SearchEncoder, queries: Sequence[Query]
) -> dict[int, EncodedQuery | DeixisError]:
    files = {place: query.image for place, query in enumerate(queries) if query.image is not None}
    if not files:
        return {}
    encoded = encoder.encode_example(list(files.values()))
    encoded_by_place: dict[int, EncodedQuery | DeixisError] = {}
    for number, (place, file) in enumerate(files.items()):
        if number in encoded.broken:
            reason = encoded.broken[number]
            encoded_by_place[place] = SearchError(f"cannot search by '{file}': {reason}")
    sound = [place for place in files if place not in encoded_by_place]
    for place, vectors in _each(sound, encoded.parts):
        encoded_by_place[place] = _finite(EncodedQuery(vectors))
    return encoded_by_place


def _each(places: Iterable[int], parts: EmbeddedParts) -> Iterator[tuple[int, Vectors]]:
    return ((place, parts.of(number)) for number, place in enumerate(places))


def _finite(query: EncodedQuery) -> EncodedQuery | DeixisError:
    if len(query.whole) == 0 or not np.isfinite(query.whole).all():
        return SearchError("the model gave no finite vector for the query")
    return query
