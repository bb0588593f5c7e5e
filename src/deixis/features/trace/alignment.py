"""Which stroke belongs to which words of a typed query, and the query as if it had been spoken.

Trust comes in this order: a link the person made; the times of spoken words; the times of typed
words; the order of drawing. Whatever was typed is laid on an even clock, so that a model always
sees the timing of speech.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.trace.cleaning import Stroke
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Narration, Point, TimedWord
from deixis.features.trace.phrases import Phrase, phrases_of
from deixis.features.trace.typing_log import Span, typed_times
from deixis.features.trace.word_times import PACE, word_times
from deixis.features.words.vocabulary import split_words, word_spans
from deixis.shapes import Float

LEAST = 0.8  # seconds per phrase with a stroke
SKIP = 0.5  # cost of leaving out a stroke or a phrase
SLOW, DEAREST = 2.0, 3.0  # a gap costs its seconds over the first, at most the second

AlignedBy = Literal["linked", "spoken", "typed", "in order", "not aligned"]


@dataclass(frozen=True, slots=True)
class AlignedQuery:
    """A query ready for a model, and the guesses in it, to be shown and corrected."""

    narration: Narration
    how: AlignedBy
    links: tuple[Link, ...] = field(default=())


def align(text: str, drawing: Drawing) -> AlignedQuery:
    """Bring a text and the strokes drawn with it together."""
    if not drawing.strokes:
        return AlignedQuery(
            Narration(text, drawing.words), "spoken" if drawing.words else "in order"
        )
    if drawing.words and not drawing.links:
        return AlignedQuery(Narration(text, drawing.words, drawing.strokes), "spoken")
    times = _known_times(text, drawing)
    linked = [(_chunk_of(text, link), link.stroke) for link in drawing.links]
    pairs = sorted(
        [*linked, *_guessed(text, drawing, linked, times)], key=lambda p: (p[0].first, p[1])
    )
    if not pairs:
        return AlignedQuery(Narration(text, (), drawing.strokes), "not aligned")
    how: AlignedBy = "linked" if linked else "in order" if times is None else "typed"
    return AlignedQuery(
        _spoken(text, drawing, pairs), how, tuple(_link(text, *pair) for pair in pairs)
    )


def _known_times(text: str, drawing: Drawing) -> list[Span] | None:
    """When each word was said or written; None if nobody knows."""
    if drawing.words:
        return [(s, e) for s, e in word_times(Narration(text, drawing.words)).tolist()]
    return typed_times(text, drawing.typing) if drawing.typing else None


def _guessed(
    text: str, drawing: Drawing, linked: list[tuple[Phrase, int]], times: list[Span] | None
) -> list[tuple[Phrase, int]]:
    """Phrases for the strokes nobody linked, among the phrases nobody linked."""
    taken = {stroke for _, stroke in linked} | set(drawing.loose)
    loose = [i for i in range(len(drawing.strokes)) if i not in taken and drawing.strokes[i]]
    free = [
        chunk
        for chunk in phrases_of(text, times)
        if not any(_overlap(chunk, other) for other, _ in linked)
    ]
    if times is None and not _comparable(len(loose), len(free)):
        return []
    pairs = match(_costs([drawing.strokes[i] for i in loose], free, times))
    return [(free[chunk], loose[stroke]) for stroke, chunk in pairs]


def match(costs: Float[ndarray, "stroke chunk"]) -> list[tuple[int, int]]:
    """The cheapest pairs of strokes and phrases that keep both orders.

    Several strokes may share a phrase; leaving a stroke or a phrase without a partner costs.
    """
    strokes, chunks = costs.shape
    # The remaining cost from stroke i and phrase j on; the phrase has a stroke already or not.
    ends = np.zeros((strokes + 1, chunks + 1, 2))
    ends[strokes, :, 0] = SKIP * np.arange(chunks, -1, -1)
    ends[strokes, :, 1] = ends[strokes, :, 0] - SKIP
    ends[:, chunks] = SKIP * np.arange(strokes, -1, -1)[:, None]
    left, each = ends.tolist(), costs.tolist()  # numpy takes several times as long per number
    for i in range(strokes - 1, -1, -1):
        for j in range(chunks - 1, -1, -1):
            for used in (0, 1):
                left[i][j][used] = min(_prices(each, left, i, j, used))
    pairs, i, j, used = [], 0, 0, 0
    while i < strokes and j < chunks:
        prices = _prices(each, left, i, j, used)
        choice = prices.index(min(prices))
        if choice == 0:
            pairs.append((i, j))
        i, j, used = _steps(i, j, used)[choice]
    return pairs


def _steps(i: int, j: int, used: int) -> tuple[tuple[int, int, int], ...]:
    """Pair stroke and phrase, go on to the next phrase, or leave out the stroke."""
    return (i + 1, j, 1), (i, j + 1, 0), (i + 1, j, used)


def _prices(
    costs: list[list[float]], left: list[list[list[float]]], i: int, j: int, used: int
) -> list[float]:
    """What each step costs, in the order of ``_steps``."""
    return [
        costs[i][j] + left[i + 1][j][1],
        SKIP * (1 - used) + left[i][j + 1][0],
        SKIP + left[i + 1][j][used],
    ]


def _costs(
    strokes: Sequence[Stroke], chunks: Sequence[Phrase], times: list[Span] | None
) -> Float[ndarray, "stroke chunk"]:
    """The cost of pairing each stroke with each phrase: the time between them, if known."""
    costs = np.zeros((len(strokes), len(chunks)))
    if times is None:
        return costs
    for i, stroke in enumerate(strokes):
        for j, chunk in enumerate(chunks):
            before = times[chunk.first][0] - stroke[-1].t
            after = stroke[0].t - times[chunk.last - 1][1]
            costs[i, j] = min(max(before, after, 0.0) / SLOW, DEAREST)
    return costs


def _comparable(strokes: int, chunks: int) -> bool:
    """Whether the counts are near enough for the order alone to mean something."""
    return 0 < max(strokes, chunks) <= 2 * min(strokes, chunks)


def _spoken(text: str, drawing: Drawing, pairs: list[tuple[Phrase, int]]) -> Narration:
    """Words on an even clock, each stroke drawn while its phrase is said; others are left out.

    Strokes of one phrase share its time in turn.
    """
    words = split_words(text)
    lengths = np.full(len(words), PACE)
    for chunk, _ in pairs:
        count = chunk.last - chunk.first
        lengths[chunk.first : chunk.last] = max(PACE, LEAST / count)
    clock = np.concatenate([[0.0], np.cumsum(lengths)])
    timed = [TimedWord(w, float(clock[i]), float(clock[i + 1])) for i, w in enumerate(words)]
    strokes = []
    for chunk in dict.fromkeys(chunk for chunk, _ in pairs):
        own = [drawing.strokes[stroke] for other, stroke in pairs if other == chunk]
        edges = np.linspace(clock[chunk.first], clock[chunk.last], len(own) + 1)
        strokes += [_moved(s, edges[i], edges[i + 1]) for i, s in enumerate(own)]
    return Narration(text, tuple(timed), tuple(strokes))


def _moved(stroke: Stroke, start: float, end: float) -> Stroke:
    """A stroke drawn evenly faster or slower, inside an interval."""
    first, last = stroke[0].t, stroke[-1].t
    middle = (start + end) / 2
    if last <= first:
        return tuple(replace(point, t=middle) for point in stroke)
    rate = (end - start) / (last - first)
    return tuple(Point(p.x, p.y, float(start + (p.t - first) * rate)) for p in stroke)


def _chunk_of(text: str, link: Link) -> Phrase:
    spans = word_spans(text)
    inside = [i for i, (a, b) in enumerate(spans) if a < link.end and link.start < b]
    if not inside:
        raise DataError(
            f"a link names characters {link.start} to {link.end}, where the text has no word"
        )
    return Phrase(inside[0], inside[-1] + 1)


def _overlap(a: Phrase, b: Phrase) -> bool:
    return a.first < b.last and b.first < a.last


def _link(text: str, chunk: Phrase, stroke: int) -> Link:
    spans = word_spans(text)
    return Link(spans[chunk.first][0], spans[chunk.last - 1][1], stroke)
