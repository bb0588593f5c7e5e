"""Queries as vectors, encoded together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.errors import DeixisError, SearchError
from deixis.features.alignment import Drawn, align
from deixis.features.clean import clean_strokes, whole_scene
from deixis.features.trace import box_around, samples_of
from deixis.search.encoder import Encoder
from deixis.search.parts import Parts
from deixis.search.query import Query

Vectors = Float32[ndarray, "_ dim"]

NOT_ALIGNED = "which stroke goes with which words is not clear: the trace was read as a whole"
SPRAWLING = "the trace covers most of the canvas and points at little: it counts half"


@dataclass(frozen=True, slots=True)
class Asked:
    """One query's vectors: of all that was said and drawn, and of its words alone."""

    whole: Vectors
    words: Vectors | None = None  # only beside a trace
    notes: tuple[str, ...] = ()  # what the asker should know of the trace


def ask(encoder: Encoder, queries: Sequence[Query]) -> list[Asked | DeixisError]:
    """Encode queries: all texts in one batch, all traces in one, all pictures in one."""
    asked: dict[int, Asked | DeixisError] = {}
    texts = [place for place, query in enumerate(queries) if query.text is not None]
    drawn = [queries[place].drawn() for place in texts]
    told = tell(encoder, drawn, [queries[place].trace_weight for place in texts])
    asked.update((place, _sound(one)) for place, one in zip(texts, told, strict=True))
    asked.update(_pictures(encoder, queries))
    return [asked[place] for place in range(len(queries))]


def tell(encoder: Encoder, drawn: Sequence[Drawn], weights: Sequence[float]) -> list[Asked]:
    """Encode words, and with a trace what both say together, by its weight."""
    if not drawn:
        return []
    told = [Asked(v) for _, v in _each(range(len(drawn)), encoder.encode_text(_texts(drawn)))]
    traced = [place for place, one in enumerate(drawn) if one.strokes]
    if not encoder.reads_traces or not traced:
        return told
    # Each as if it had been spoken, every stroke drawn while its words are said.
    aligned = {place: align(drawn[place]) for place in traced}
    narrations = [one.narration for one in aligned.values()]
    for place, whole in _each(traced, encoder.encode_narration(narrations)):
        lost, sprawls = aligned[place].how == "not aligned", _sprawls(drawn[place])
        weight, words = np.float32(weights[place] * (0.5 if sprawls else 1.0)), told[place].whole
        notes = (*(NOT_ALIGNED,) * lost, *(SPRAWLING,) * sprawls)
        told[place] = Asked((1 - weight) * words + weight * whole, words, notes)
    return told


def _sprawls(query: Drawn) -> bool:
    """Whether most strokes cover so much of the canvas that they point at nothing."""
    samples = [samples_of([stroke]) for stroke in clean_strokes(query.strokes)]
    boxes = [box_around(rows) for rows in samples if len(rows)]
    return bool(boxes) and bool(whole_scene(np.array(boxes)).mean() > 0.5)


def _texts(drawn: Sequence[Drawn]) -> list[str]:
    return [one.text for one in drawn]


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
