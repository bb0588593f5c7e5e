"""A query of several parts: more like this, less like that, in words and in pictures.

Scores by words and by pictures differ in size: a picture resembles another more than it fits any
sentence. So the scores of each part are divided by their own spread over the library, and a weight
of 1 then means the same for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deixis.errors import SearchError
from deixis.search.query.encode_queries import EncodedQuery
from deixis.search.query.filters import Filter
from deixis.search.query.query import Query

MOST_PARTS = 12


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A text with or without strokes, or a picture, and how much it is wanted; below 0 unwanted."""

    query: Query
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class MixedQuery:
    """What is wanted and what is not; how many hits, and out of which.

    >>> MixedQuery((QueryPart(Query("a beach")), QueryPart(Query("people"), -0.5))).k
    10
    """

    parts: tuple[QueryPart, ...]
    k: int = 10
    where: Filter | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.parts) <= MOST_PARTS:
            raise SearchError(f"{len(self.parts)} things are asked for; give 1 to {MOST_PARTS}")
        if not all(-1 <= part.weight <= 1 for part in self.parts):
            raise SearchError("a weight is outside -1 to 1; 1 means wanted, -1 unwanted")
        if not any(part.weight > 0 for part in self.parts):
            raise SearchError("every part is unwanted; give one part a weight above 0")


@dataclass(frozen=True, slots=True)
class ScaledPart:
    """An encoded part, and by what its scores are multiplied before they are added."""

    asked: EncodedQuery
    scale: float


def mixture(parts: Sequence[ScaledPart]) -> EncodedQuery:
    """One query whose scores are the sum of the parts' scores.

    Where every part is a single vector, so is the sum. A model that compares sets part by part
    scores each one on its own; ``terms`` keeps them. Places pointed at are scored in units of the
    text they belong to, so with them the sum is in those.
    """
    notes = tuple(dict.fromkeys(note for part in parts for note in part.asked.notes))
    pointing = [part for part in parts if part.asked.pointed is not None and part.scale > 0][:1]
    unit = pointing[0].scale if pointing else 1.0
    mixed = EncodedQuery(
        parts[0].asked.whole,
        notes=notes,
        pointed=pointing[0].asked.pointed if pointing else None,
        terms=tuple((part.scale / unit, part.asked.whole) for part in parts),
    )
    if any(len(vectors) != 1 for _, vectors in mixed.terms):
        return mixed
    whole = sum(np.float32(scale) * vectors for scale, vectors in mixed.terms)
    return replace(mixed, whole=np.asarray(whole, dtype=np.float32))
