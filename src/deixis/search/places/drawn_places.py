"""What the strokes of a query point at: boxes per phrase, and boxes of something unnamed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy import ndarray

from deixis.errors import SearchError
from deixis.features.places.phrase_inputs import CharSpan
from deixis.features.trace.alignment import AlignedBy, align
from deixis.features.trace.boxes_of_trace import box_around, samples_of
from deixis.features.trace.cleaning import Stroke, clean_strokes
from deixis.features.trace.drawing import Drawing
from deixis.features.trace.narration import Narration
from deixis.features.trace.phrases import phrases_of
from deixis.features.trace.word_times import word_times
from deixis.features.words.vocabulary import word_spans
from deixis.shapes import Float

MOST = 24  # phrases and unnamed things a query may point at

Boxes = Float[ndarray, "box 5"]


@dataclass(frozen=True, slots=True)
class DrawnPlace:
    """A phrase, by its characters, or None for something unnamed; and the boxes drawn for it."""

    span: CharSpan | None
    boxes: Boxes


def drawn_places(text: str, drawing: Drawing) -> tuple[list[DrawnPlace], AlignedBy]:
    """Read a drawing as places of phrases, by links, spoken words, typed words or order.

    Several strokes for one phrase are one place: their union. A stroke that goes with no phrase
    means that something is there.
    """
    spoken = drawing.words and not drawing.links and not drawing.loose
    if spoken and (found := _while_spoken(text, drawing)):
        return found, "spoken"
    aligned = align(text, drawing)
    named: dict[CharSpan, list[Stroke]] = {}
    for link in aligned.links:
        named.setdefault((link.start, link.end), []).append(drawing.strokes[link.stroke])
    owned = {link.stroke for link in aligned.links}
    unnamed = [[stroke] for i, stroke in enumerate(drawing.strokes) if i not in owned]
    if len(named) + len(unnamed) > MOST:
        unnamed = [[stroke for one in unnamed for stroke in one]]
    if len(named) + len(unnamed) > MOST:
        raise SearchError(f"the query points at {len(named)} phrases; at most {MOST} are read")
    places = [DrawnPlace(span, _boxes(strokes)) for span, strokes in named.items()]
    places += [DrawnPlace(None, _boxes(strokes)) for strokes in unnamed]
    how: AlignedBy = "linked" if drawing.loose else aligned.how
    return [place for place in places if len(place.boxes)], how


def _while_spoken(text: str, drawing: Drawing) -> list[DrawnPlace]:
    """Each phrase with what was drawn nearer in time to its words than to those of another."""
    times = word_times(Narration(text, drawing.words))
    samples = samples_of(clean_strokes(drawing.strokes))
    phrases, spans = phrases_of(text, [(s, e) for s, e in times.tolist()]), word_spans(text)
    halfway = [(times[a.last - 1, 1] + times[b.first, 0]) / 2 for a, b in pairwise(phrases)]
    found = []
    for phrase, (start, end) in zip(phrases, pairwise([-np.inf, *halfway, np.inf]), strict=False):
        own = samples[(samples[:, 2] >= start) & (samples[:, 2] < end)]
        if len(own):
            span = spans[phrase.first][0], spans[phrase.last - 1][1]
            found.append(DrawnPlace(span, box_around(own)[None]))
    return found[:MOST]


def _boxes(strokes: Sequence[Stroke]) -> Boxes:
    """A box around each stroke, as far as it lies on the canvas; a click has a box, too."""
    pieces = [samples_of(clean_strokes([stroke])) for stroke in strokes]
    boxes = [box_around(samples) for samples in pieces if len(samples)]
    return np.array(boxes, dtype=np.float64).reshape(-1, 5)
