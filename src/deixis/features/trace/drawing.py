"""What a person drew while writing or speaking a text, and how both were entered."""

from dataclasses import dataclass

from deixis.features.trace.cleaning import Stroke
from deixis.features.trace.narration import TimedWord
from deixis.features.trace.typing_log import Edit


@dataclass(frozen=True, slots=True)
class Link:
    """A phrase, by its characters, and the stroke a person tied it to."""

    start: int
    end: int
    stroke: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """The strokes drawn with a text, and what is known of how text and strokes go together."""

    strokes: tuple[Stroke, ...] = ()
    words: tuple[TimedWord, ...] = ()  # when each word was spoken, where known
    links: tuple[Link, ...] = ()  # made by hand
    loose: tuple[int, ...] = ()  # strokes that say "something is here", whatever the words are
    typing: tuple[Edit, ...] = ()  # how the text was typed, key by key, where known
    weight: float = 0.5  # 0: the text alone counts, 1: text and strokes as the model reads them
