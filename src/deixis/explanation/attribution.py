"""What each word, stroke and place adds to a score: remove it and score again.

Where a model has a place head, maps of phrases say where instead.

Works for every method, because it uses nothing but the scorer that ranked the picture. With s the
full score, s₋w without word w, s₋p without place p and s₋wp without both:

- a word's share is ``s − s₋w``, a place's ``s − s₋p``, and a stroke's likewise;
- what a word and a place do together is ``s − s₋w − s₋p + s₋wp``, the part of the word's share
  that is gone once the place is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.errors import DataError, DeixisError, RunError
from deixis.explanation.maps_of_phrases import PhraseMap, phrase_maps
from deixis.explanation.perturbed_views import Perturbation, PerturbedViews, whole_view
from deixis.features.backbones.hub_access import allow_hub
from deixis.features.store.image_files import PictureSource
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.words.vocabulary import word_spans
from deixis.runs.run import Run
from deixis.search.encoders.embedded_parts import EmbeddedParts
from deixis.search.encoders.load_encoder import PHOTOS, SCENES, TOWER, load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.encoders.torch_encoder import TorchEncoder
from deixis.search.library.library import Library
from deixis.search.places.place_ranking import place_shares
from deixis.search.query.encode_queries import EncodedQuery, Vectors, encode_queries, encode_texts
from deixis.search.query.query import Query

LONGEST = 48  # words, and strokes, a query may have; each costs one more encoding


@dataclass(frozen=True, slots=True)
class Explanation:
    """Shares of a score; boxes are ``xmin, xmax, ymin, ymax, area``, origin top left."""

    by: Perturbation
    query: EncodedQuery
    score: float
    text_score: float | None  # by the words alone, when a trace was drawn
    spans: tuple[tuple[int, int], ...]  # where each word begins and ends in the text
    words: Float[ndarray, " word"]
    strokes: Float[ndarray, " stroke"]
    boxes: Float[ndarray, "place 5"]
    places: Float[ndarray, " place"]
    together: Float[ndarray, "word place"]
    looks: Float[ndarray, "element place"]  # what each element of a set attends to
    affinity: Float[ndarray, " element"]  # an element's best cosine with the query's
    maps: tuple[PhraseMap, ...] = ()  # where each phrase is found, by a model with a place head
    game: float | None = None  # percent of such maps whose peak is in the human box, if measured

    @property
    def drop(self) -> float:
        """How much the score falls without the place that has the largest share."""
        return float(np.max(self.places, initial=0.0))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; a word's regions are what it shares with each place."""
        words = zip(self.spans, self.words.tolist(), self.together.tolist(), strict=True)
        elements = zip(self.affinity.tolist(), self.looks.tolist(), strict=True)
        return {
            "method": self.by,
            "score": self.score,
            "text_score": self.text_score,
            "words": [
                {"start_char": start, "end_char": end, "share": share, "regions": regions}
                for (start, end), share, regions in words
            ],
            "strokes": self.strokes.tolist(),
            "boxes": self.boxes[:, :4].tolist(),
            "regions": self.places.tolist(),
            "phrases": [
                {"start_char": s, "end_char": e, "share": one.share, "cells": one.cells.tolist()}
                for one in self.maps
                for s, e in [one.span or (None, None)]
            ],
            "pointing_game": self.game,
            "elements": [{"affinity": one, "regions": regions} for one, regions in elements],
            "drop": self.drop,
        }


def explain(
    model: SearchEncoder | Library | Run | Path | str,
    query: Query | str,
    picture: PictureSource | str,
    check: Callable[[], None] = lambda: None,
) -> Explanation:
    """Attribute a score to the words and strokes of a query and the places of a picture.

    ``model`` is a library, a run, the name of a model such as ``deixis:photos``, or an encoder.
    ``check`` is called between the pieces of the work and may raise to end it.

    ```python
    found = deixis.explain("library", "a dog in the snow", "dog.jpg")
    for (start, end), share in zip(found.spans, found.words):
        print(f"{share:+.3f}", "a dog in the snow"[start:end])
    ```
    """
    encoder = _encoder(model)
    query = Query(text=query) if isinstance(query, str) else query
    if query.text is None:
        raise DataError("only a search by text can be explained; give the words")
    encoded, spans = encoded_variants(encoder, query)
    check()
    source = Path(picture) if isinstance(picture, str) else picture
    views = perturbed(encoder, source)
    check()
    return with_maps(encoder, query, share_out(encoder, encoded, spans, views), views)


def with_maps(
    encoder: SearchEncoder, query: Query, found: Explanation, views: PerturbedViews
) -> Explanation:
    """An explanation of a text with the maps of its phrases, where a model has a place head."""
    if encoder.places is None or views.cells is None or query.text is None:
        return found
    maps = phrase_maps(encoder.places, query.text, found.query.pointed, views.cells)
    return replace(found, maps=maps, game=encoder.places.game)


def encoded_variants(
    encoder: SearchEncoder, query: Query
) -> tuple[list[EncodedQuery], tuple[tuple[int, int], ...]]:
    """A query whole, without each word and without each stroke; and where its words are.

    A picture to search by is only as it is.
    """
    if query.text is None:
        (only,) = encode_queries(encoder, [query])
        if isinstance(only, DeixisError):
            raise only
        return [only], ()
    spans = tuple(word_spans(query.text))
    points = encoder.reads_traces or encoder.places is not None
    strokes = len(query.drawing.strokes) if points else 0
    if max(len(spans), strokes) > LONGEST:
        raise DataError(
            f"the query has {len(spans)} words and {strokes} strokes; at most {LONGEST} of each "
            "are explained"
        )
    drawn = [(query.text, query.drawing)]
    drawn += [without_word(query.text, query.drawing, word) for word in range(len(spans))]
    drawn += [(query.text, without_stroke(query.drawing, stroke)) for stroke in range(strokes)]
    return encode_texts(encoder, drawn), spans


def _encoder(model: SearchEncoder | Library | Run | Path | str) -> SearchEncoder:
    if isinstance(model, Library):
        return model.encoder
    if isinstance(model, Run):
        return load_encoder(model.folder)
    if isinstance(model, Path | str):
        library = Library(model)
        if library.exists:
            return library.encoder
        if not str(model).startswith((PHOTOS, SCENES, TOWER)) and not Path(model).exists():
            raise RunError(f"there is no library or run folder at {model}")
        allow_hub(str(model))
        return load_encoder(model)
    return model


def share_out(
    encoder: SearchEncoder,
    encoded: Sequence[EncodedQuery],
    spans: tuple[tuple[int, int], ...],
    views: PerturbedViews,
) -> Explanation:
    """The explanation of a query whose variants meet the views of a picture."""
    scores = _scores(encoder, [one.whole for one in encoded], views.parts)
    scores += _place_scores(encoder, encoded, views)
    whole_query, last = encoded[0], 1 + len(spans)
    full, no_place = scores[0, 0], scores[0, 1:]
    no_word, neither = scores[1:last, 0], scores[1:last, 1:]
    text_score = None
    if whole_query.text is not None:
        text_score = float(_scores(encoder, [whole_query.text], views.parts)[0, 0])
    return Explanation(
        by=views.by,
        query=whole_query,
        score=float(scores[0, 0]),
        text_score=text_score,
        spans=spans,
        words=scores[0, 0] - scores[1:last, 0],
        strokes=scores[0, 0] - scores[last:, 0],
        boxes=views.boxes,
        places=full - no_place,
        together=full - no_word[:, None] - no_place + neither,
        looks=views.looks,
        affinity=_affinity(views, whole_query),
    )


def without_word(text: str, drawing: Drawing, word: int) -> tuple[str, Drawing]:
    """A text without one word, and its drawing without the strokes that only this word had."""
    spans = word_spans(text)
    start, end = spans[word]
    rest = text[:start] + text[end:]
    timed = drawing.words if len(drawing.words) == len(spans) else ()
    timed = tuple(one for place, one in enumerate(timed) if place != word)

    def moved(place: int) -> int:
        return place - max(0, min(place, end) - start)

    kept: list[Link] = []
    orphaned: set[int] = set()
    for link in drawing.links:
        first, last = moved(link.start), moved(link.end)
        if word_spans(rest[first:last]):
            kept.append(Link(first, last, link.stroke))
        else:
            orphaned.add(link.stroke)
    less = replace(drawing, words=timed, links=tuple(kept))
    for stroke in sorted(orphaned, reverse=True):
        less = without_stroke(less, stroke)
    return rest, less


def without_stroke(drawing: Drawing, stroke: int) -> Drawing:
    """A drawing without one stroke."""
    links = (
        replace(link, stroke=link.stroke - (link.stroke > stroke))
        for link in drawing.links
        if link.stroke != stroke
    )
    kept = tuple(one for place, one in enumerate(drawing.strokes) if place != stroke)
    loose = tuple(one - (one > stroke) for one in drawing.loose if one != stroke)
    return replace(drawing, strokes=kept, links=tuple(links), loose=loose)


def perturbed(encoder: SearchEncoder, picture: PictureSource) -> PerturbedViews:
    """A picture whole and, where a model has regions, without each of them."""
    if isinstance(encoder, TorchEncoder) and encoder.places is None:
        from deixis.explanation.removed_regions import removed  # torch comes with it

        found = removed(encoder.matcher, picture)
        if found is not None:
            return found
    return whole_view(encoder, picture)


def _scores(
    encoder: SearchEncoder, asked: Sequence[Vectors], images: EmbeddedParts
) -> Float[ndarray, "asked image"]:
    rows = [
        encoder.score(EmbeddedParts(one[None], np.ones((1, len(one)), dtype=bool)), images)[0]
        for one in asked
    ]
    return np.stack(rows).astype(np.float64)


def _place_scores(
    encoder: SearchEncoder, asked: Sequence[EncodedQuery], views: PerturbedViews
) -> Float[ndarray, "asked 1"]:
    """What the places of each query add to the score of the picture."""
    scores = np.zeros((len(asked), 1))
    if encoder.places is None or views.cells is None:
        return scores
    for row, one in enumerate(asked):
        if one.pointed is not None:
            scores[row] = place_shares(encoder.places, one.pointed, views.cells).sum()
    return scores


def _affinity(views: PerturbedViews, query: EncodedQuery) -> Float[ndarray, " element"]:
    if not len(views.looks):
        return np.zeros(0)
    return np.asarray((views.parts.of(0) @ query.whole.T).max(axis=1))
