"""When each word of a narration was said."""

from difflib import SequenceMatcher

import numpy as np
from numpy import ndarray

from deixis.features.trace.narration import Narration
from deixis.features.words.vocabulary import split_words
from deixis.shapes import Float

PACE = 0.35  # seconds per word of a text without times


def word_times(narration: Narration) -> Float[ndarray, "word 2"]:
    """Start and end of every word of the text, as ``split_words`` counts them.

    A group of words shares its interval evenly. Typed and timed words may differ: what has no
    timed counterpart is placed between its neighbours. A text without times runs at an even pace.
    """
    words = split_words(narration.text)
    even = PACE * np.arange(len(words) + 1)
    times = np.stack([even[:-1], even[1:]], axis=1)
    timed = [
        (word, *span)
        for group in narration.words
        for word, span in _shared_out(group.text, group.start, group.end)
    ]
    known = _counterparts(words, [word for word, _, _ in timed])
    if not known:
        return times
    places, spans = list(known), np.array([timed[i][1:] for i in known.values()])
    for side in (0, 1):
        times[:, side] = np.interp(np.arange(len(words)), places, spans[:, side])
    return times


def _shared_out(text: str, start: float, end: float) -> list[tuple[str, tuple[float, float]]]:
    words = split_words(text)
    share = (end - start) / max(1, len(words))
    return [(w, (start + i * share, start + (i + 1) * share)) for i, w in enumerate(words)]


def _counterparts(words: list[str], timed: list[str]) -> dict[int, int]:
    """The place among the timed words of every word that has one."""
    if words == timed:
        return {place: place for place in range(len(words))}
    matches = SequenceMatcher(None, words, timed, autojunk=False).get_matching_blocks()
    return {m.a + i: m.b + i for m in matches for i in range(m.size)}
