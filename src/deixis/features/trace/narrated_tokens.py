"""Narrations as tokens: words with their times, and the trace drawn meanwhile."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.features.store.packed import PackedTokens, PackedTrace, offsets_of
from deixis.features.trace.boxes_of_trace import (
    WINDOW,
    TraceBoxes,
    samples_of,
    window_boxes,
    word_boxes,
)
from deixis.features.trace.cleaning import clean_strokes, drop_silent, grow
from deixis.features.trace.narration import Narration
from deixis.features.trace.word_times import word_times
from deixis.features.words.vocabulary import Vocabulary, word_spans

Span = tuple[int, int]  # first and one past the last character
Spans = Sequence[Sequence[Span]]  # of each piece of each text


def narrated_tokens(
    narrations: Sequence[Narration], vocabulary: Vocabulary, window: float = WINDOW
) -> PackedTokens:
    """Words with times, and of each trace the boxes of its windows and of its words.

    A box's ``word`` is the place of its word among the tokens; a window's is -1.
    """
    times = [_token_times(narration) for narration in narrations]
    pairs = zip(narrations, times, strict=True)
    traces = [trace_boxes(narration, spans, window) for narration, spans in pairs]
    return replace(
        vocabulary([narration.text for narration in narrations]),
        times=np.concatenate(times).astype(np.float32),
        trace=_packed(traces, window),
    )


def narrated_pieces(
    narrations: Sequence[Narration], pieces: PackedTokens, spans: Spans, window: float = WINDOW
) -> PackedTokens:
    """Word pieces of a pretrained tower with the times of their words, and the trace's boxes.

    ``spans`` says which characters each piece of each text stands for; the marks at both ends of a
    text stand for none and take no time.
    """
    pairs = list(zip(narrations, spans, strict=True))
    times = [_piece_times(narration, own) for narration, own in pairs]
    traces = [trace_boxes(n, own, window) for n, own in zip(narrations, times, strict=True)]
    return replace(
        pieces,
        times=np.concatenate(times).astype(np.float32),
        trace=_packed(traces, window),
    )


def trace_boxes(
    narration: Narration, token_times: Float[ndarray, "token 2"], window: float = WINDOW
) -> TraceBoxes:
    """The boxes of one narration's cleaned trace, by windows and then by words."""
    samples = samples_of(clean_strokes(narration.strokes))
    windows = window_boxes(samples, window)
    words = drop_silent(word_boxes(samples, token_times[1:-1]), samples)
    return TraceBoxes(
        grow(np.concatenate([windows.boxes, words.boxes])),
        np.concatenate([windows.times, words.times]),
        np.concatenate([windows.word, words.word + 1]),  # the start token comes first
        np.concatenate([windows.samples, words.samples]),
    )


def _piece_times(narration: Narration, spans: Sequence[Span]) -> Float[ndarray, "token 2"]:
    """The time of the word each piece is of; a mark between words belongs to the word before it."""
    words, times = word_spans(narration.text), _token_times(narration)
    begins = np.array([start for start, _ in words])
    inner = [np.searchsorted(begins, start, side="right") for start, _ in spans[1:-1]]
    return times[[0, *(int(word) for word in inner), len(words) + 1]]


def _token_times(narration: Narration) -> Float[ndarray, "token 2"]:
    """Times of the words, and of the start and end tokens around them, which take no time."""
    words = word_times(narration)
    first, last = (words[0, 0], words[-1, 1]) if len(words) else (0.0, 0.0)
    return np.concatenate([[[first, first]], words, [[last, last]]])


def _packed(traces: Sequence[TraceBoxes], window: float) -> PackedTrace:
    return PackedTrace(
        boxes=np.concatenate([trace.boxes for trace in traces]).astype(np.float32),
        times=np.concatenate([trace.times for trace in traces]).astype(np.float32),
        word=np.concatenate([trace.word for trace in traces]).astype(np.int64),
        offsets=offsets_of([len(trace) for trace in traces]),
        window=window,
    )
