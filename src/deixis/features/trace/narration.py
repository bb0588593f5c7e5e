"""What a person said and where they pointed while saying it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """One pointer sample: place relative to the canvas (origin top left), time in seconds."""

    x: float
    y: float
    t: float


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word or group of words with the seconds in which it was said."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Narration:
    """A text with timed words and pointer strokes; both may be empty."""

    text: str
    words: tuple[TimedWord, ...] = ()
    strokes: tuple[tuple[Point, ...], ...] = ()
