"""Queries as vectors, encoded together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.errors import DeixisError, SearchError
from deixis.features.alignment import Drawn, align
from deixis.features.narration import Narration
from deixis.search.encoder import Encoder
from deixis.search.parts import Parts
from deixis.search.query import Query

Vectors = Float32[ndarray, "part dim"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One query's vectors: of all that was said and drawn, and of its words alone."""

    whole: Vectors
    words: Vectors | None = None  # only beside a trace


def ask(encoder: Encoder, queries: Sequence[Query]) -> list[Asked | DeixisError]:
    """Encode queries: all texts in one batch, all traces in one, all pictures in one."""
    asked: dict[int, Asked | DeixisError] = {}
    texts = {place: query.text for place, query in enumerate(queries) if query.text is not None}
    drawn = {place: _told(queries[place]) for place in texts if queries[place].strokes}
    if texts:
        for place, vectors in _each(texts, encoder.encode_text(list(texts.values()))):
            asked[place] = _sound(Asked(vectors))
    if encoder.reads_traces and drawn:
        for place, traced in _each(drawn, encoder.encode_narration(list(drawn.values()))):
            words = asked[place]
            if isinstance(words, Asked):
                weight = np.float32(queries[place].trace_weight)
                whole = (1 - weight) * words.whole + weight * traced
                asked[place] = _sound(Asked(whole, words.whole))
    asked.update(_pictures(encoder, queries))
    return [asked[place] for place in range(len(queries))]


def _told(query: Query) -> Narration:
    """A query as if it had been spoken, each stroke drawn while its words are said."""
    return align(Drawn(query.text or "", query.strokes, query.words, query.links)).narration


def _pictures(encoder: Encoder, queries: Sequence[Query]) -> dict[int, Asked | DeixisError]:
    files = {place: query.image for place, query in enumerate(queries) if query.image is not None}
    if not files:
        return {}
    encoded = encoder.encode_example(list(files.values()))
    asked: dict[int, Asked | DeixisError] = {}
    for number, (place, file) in enumerate(files.items()):
        if number in encoded.broken:
            reason = encoded.broken[number]
            asked[place] = SearchError(f"'{file}' cannot be searched by: {reason}")
    sound = [place for place in files if place not in asked]
    for place, vectors in _each(sound, encoded.parts):
        asked[place] = _sound(Asked(vectors))
    return asked


def _each(places: Iterable[int], parts: Parts) -> Iterator[tuple[int, Vectors]]:
    return ((place, parts.of(number)) for number, place in enumerate(places))


def _sound(asked: Asked) -> Asked | DeixisError:
    if len(asked.whole) == 0 or not np.isfinite(asked.whole).all():
        return SearchError("the model gave no finite vector for the query")
    return asked
