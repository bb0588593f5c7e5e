"""What a score owes to each word, stroke and place: take them away and score again.

Works for every method, because it asks nothing but the scorer that ranked the picture. With s the
full score, s₋w without word w, s₋p without place p and s₋wp without both:

- a word's share is ``s − s₋w``, a place's ``s − s₋p``, and a stroke's likewise;
- what a word and a place do together is ``s − s₋w − s₋p + s₋wp``, the part of the word's share
  that is gone once the place is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.errors import DataError
from deixis.explain.covering import covered
from deixis.explain.views import By, Views
from deixis.features.alignment import Drawn, Link
from deixis.features.words import word_spans
from deixis.search.asking import Asked, Vectors, tell
from deixis.search.encoder import Encoder
from deixis.search.matching import RunEncoder
from deixis.search.parts import Parts
from deixis.search.query import Query

LONGEST = 48  # words, and strokes, a query may have; each costs one more encoding


@dataclass(frozen=True, slots=True)
class Explanation:
    """Shares of a score; boxes are ``xmin, xmax, ymin, ymax, area``, origin top left."""

    by: By
    asked: Asked
    score: float
    text_score: float | None  # by the words alone, when a trace was drawn
    spans: tuple[tuple[int, int], ...]  # where each word begins and ends in the text
    words: Float[ndarray, " word"]
    strokes: Float[ndarray, " stroke"]
    boxes: Float[ndarray, "place 5"]
    places: Float[ndarray, " place"]
    together: Float[ndarray, "word place"]
    looks: Float[ndarray, "element place"]  # what each element of a set looks at
    affinity: Float[ndarray, " element"]  # an element's best cosine with the query's

    @property
    def drop(self) -> float:
        """What is lost when the place with the largest share is taken away."""
        return float(np.max(self.places, initial=0.0))


def explain(encoder: Encoder, query: Query, picture: Path) -> Explanation:
    """Share a score out among the words and strokes of a query and the places of a picture."""
    drawn = query.drawn()
    spans = tuple(word_spans(drawn.text))
    strokes = len(drawn.strokes) if encoder.reads_traces else 0
    if max(len(spans), strokes) > LONGEST:
        raise DataError(
            f"the query has {len(spans)} words and {strokes} strokes; at most {LONGEST} of each "
            "are explained"
        )
    less = [drawn, *(without_word(drawn, word) for word in range(len(spans)))]
    less += [without_stroke(drawn, stroke) for stroke in range(strokes)]
    told = tell(encoder, less, [query.trace_weight] * len(less))
    return _shared_out(encoder, told, spans, _views(encoder, picture))


def _shared_out(
    encoder: Encoder, told: Sequence[Asked], spans: tuple[tuple[int, int], ...], views: Views
) -> Explanation:
    scores = _scores(encoder, [one.whole for one in told], views.parts)
    asked, last = told[0], 1 + len(spans)
    base = int(views.copied)  # places are told against the copy, where there is one
    full, no_place = scores[0, base], scores[0, base + 1 :]
    no_word, neither = scores[1:last, base], scores[1:last, base + 1 :]
    text_score = None
    if asked.words is not None:
        text_score = float(_scores(encoder, [asked.words], views.parts)[0, 0])
    return Explanation(
        by=views.by,
        asked=asked,
        score=float(scores[0, 0]),
        text_score=text_score,
        spans=spans,
        words=scores[0, 0] - scores[1:last, 0],
        strokes=scores[0, 0] - scores[last:, 0],
        boxes=views.boxes,
        places=full - no_place,
        together=full - no_word[:, None] - no_place + neither,
        looks=views.looks,
        affinity=_affinity(views, asked),
    )


def without_word(drawn: Drawn, word: int) -> Drawn:
    """A query without one word, and without the strokes that only this word had."""
    spans = word_spans(drawn.text)
    start, end = spans[word]
    text = drawn.text[:start] + drawn.text[end:]
    timed = drawn.words if len(drawn.words) == len(spans) else ()
    timed = tuple(one for place, one in enumerate(timed) if place != word)

    def moved(place: int) -> int:
        return place - max(0, min(place, end) - start)

    links: list[Link] = []
    alone: list[Link] = []
    for link in drawn.links:
        first, last = moved(link.start), moved(link.end)
        empty = not word_spans(text[first:last])
        (alone if empty else links).append(Link(first, last, link.stroke))
    out = replace(drawn, text=text, words=timed, links=tuple(links))
    for stroke in sorted({link.stroke for link in alone}, reverse=True):
        out = without_stroke(out, stroke)
    return out


def without_stroke(drawn: Drawn, stroke: int) -> Drawn:
    """A query without one stroke."""
    links = (
        replace(link, stroke=link.stroke - (link.stroke > stroke))
        for link in drawn.links
        if link.stroke != stroke
    )
    kept = tuple(one for place, one in enumerate(drawn.strokes) if place != stroke)
    return replace(drawn, strokes=kept, links=tuple(links))


def _views(encoder: Encoder, picture: Path) -> Views:
    if isinstance(encoder, RunEncoder):
        from deixis.explain.removal import removed  # noqa: PLC0415  torch comes with it

        found = removed(encoder.matcher, picture)
        if found is not None:
            return found
    return covered(encoder, picture)


def _scores(
    encoder: Encoder, asked: Sequence[Vectors], images: Parts
) -> Float[ndarray, "asked image"]:
    rows = [
        encoder.score(Parts(one[None], np.ones((1, len(one)), dtype=bool)), images)[0]
        for one in asked
    ]
    return np.stack(rows).astype(np.float64)


def _affinity(views: Views, asked: Asked) -> Float[ndarray, " element"]:
    if not len(views.looks):
        return np.zeros(0)
    return np.asarray((views.parts.of(0) @ asked.whole.T).max(axis=1))
