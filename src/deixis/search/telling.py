"""A drawn query told as the model was trained: words at an even pace, strokes while they are said.

People type slowly, go back, and draw before or after the words they mean. Where a stroke is linked
to a phrase, its own time therefore counts for nothing: the words are laid on a clock of their own,
and the stroke is drawn again while its phrase is said.
"""

from collections.abc import Sequence

from deixis.features.clean import CLICK
from deixis.features.narration import Narration, Point, TimedWord
from deixis.features.timing import PACE
from deixis.features.words import word_spans
from deixis.search.query import Link, Query

Stroke = tuple[Point, ...]

LEAST = 0.8  # seconds a pointed-at phrase takes


def narration_of(query: Query) -> Narration:
    """The words and strokes of a query on one clock; without links, as they were recorded."""
    text = query.text or ""
    if not query.links:
        return Narration(text, query.words, query.strokes)
    words = _spoken(text, query.links)
    strokes: list[Stroke] = []
    for link in sorted(set(query.links), key=lambda link: (link.start, link.stroke)):
        inside = [word for word, (start, end) in words if link.start < end and start < link.end]
        if inside and query.strokes[link.stroke]:
            strokes.append(_redrawn(query.strokes[link.stroke], inside[0].start, inside[-1].end))
    return Narration(text, tuple(word for word, _ in words), tuple(strokes))


def _spoken(text: str, links: Sequence[Link]) -> list[tuple[TimedWord, tuple[int, int]]]:
    """Words one after the other; those of a linked phrase share at least its least time."""
    spans = word_spans(text)
    words, clock = [], 0.0
    for start, end in spans:
        pace = PACE
        for link in links:
            if link.start < end and start < link.end:
                count = sum(link.start < e and s < link.end for s, e in spans)
                pace = max(pace, LEAST / count)
        words.append((TimedWord(text[start:end], clock, clock + pace), (start, end)))
        clock += pace
    return words


def _redrawn(stroke: Stroke, start: float, end: float) -> Stroke:
    """A stroke at its own speed, but between two moments."""
    if len({(point.x, point.y) for point in stroke}) == 1:  # a click means "here"
        stroke = tuple(
            Point(stroke[0].x + d, stroke[0].y + d, 0.0) for d in (-CLICK / 2, CLICK / 2)
        )
    first, last = stroke[0].t, stroke[-1].t
    if not last > first:  # drawn in no time, or with times unknown
        steps = max(len(stroke) - 1, 1)
        shares = [number / steps for number in range(len(stroke))]
    else:
        shares = [(point.t - first) / (last - first) for point in stroke]
    # Kept just inside, so that no point falls to the neighbouring words as well.
    inset = 0.02 * (end - start)
    begin, length = start + inset, end - start - 2 * inset
    return tuple(
        Point(point.x, point.y, begin + share * length)
        for point, share in zip(stroke, shares, strict=True)
    )
