"""When each word of a typed text was written, from the log of its keys."""

from collections.abc import Sequence
from dataclasses import dataclass

from deixis.features.words.vocabulary import word_spans


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of the text field: characters before the caret go, others come."""

    time: float  # seconds
    caret: int  # before the change
    removed: int = 0
    inserted: str = ""


Span = tuple[float, float]  # seconds


def typed_times(text: str, edits: Sequence[Edit]) -> list[Span] | None:
    """When each word's first and last characters came; None if the log is of another text.

    Only what survived counts: a word that was rubbed out and written again has its later time.
    """
    letters: list[tuple[str, float]] = []
    for edit in edits:
        start = edit.caret - edit.removed
        if start < 0 or edit.caret > len(letters):
            return None
        letters[start : edit.caret] = [(letter, edit.time) for letter in edit.inserted]
    if "".join(letter for letter, _ in letters) != text:
        return None
    times = [[time for _, time in letters[start:end]] for start, end in word_spans(text)]
    return [(min(word), max(word)) for word in times]
