"""The parts of a text that may be pointed at."""

from collections.abc import Sequence
from dataclasses import dataclass

from deixis.features.trace.typing_log import Span
from deixis.features.words.vocabulary import split_words, word_spans

PAUSE = 1.5  # seconds without a word that separate two phrases
# What comes before and after these is pointed at separately: "a dog on the beach".
_PARTING = frozenset(
    {
        *("and", "then", "with", "on", "in", "at", "by", "near", "beside", "behind", "under"),
        *("over", "above", "below", "between", "while", "where"),
    }
)
# Words that nobody points at; a phrase of nothing else is no phrase.
_POINTLESS = frozenset(
    {
        *("a", "an", "the", "this", "that", "these", "those", "some", "it", "its", "also", "so"),
        *("in", "on", "at", "of", "to", "with", "by", "from", "near", "there", "here", "okay"),
        *("is", "are", "was", "were", "be", "have", "has", "had", "can", "could", "which", "who"),
        *("i", "we", "you", "they", "he", "she", "my", "our", "his", "her", "their"),
        *("see", "seen", "find", "look", "looking", "picture", "image", "photo"),
    }
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some neighbouring words: the first, and the one after the last."""

    first: int
    last: int


def phrases_of(text: str, times: Sequence[Span] | None = None) -> list[Phrase]:
    """Cut a text at punctuation, at words such as "and" and "on", and where its writer paused.

    Words nobody points at are trimmed from both ends.

    >>> [(p.first, p.last) for p in phrases_of("In this picture a red boat, and then two dogs.")]
    [(4, 6), (8, 10)]
    """
    words, spans = split_words(text), word_spans(text)
    cuts = [0]
    for place in range(1, len(words)):
        between = text[spans[place - 1][1] : spans[place][0]]
        paused = times is not None and times[place][0] - times[place - 1][1] > PAUSE
        if between.strip() or paused or words[place] in _PARTING or words[place - 1] in _PARTING:
            cuts.append(place)
    pieces = zip(cuts, [*cuts[1:], len(words)], strict=True)
    return [chunk for first, last in pieces if (chunk := _trimmed(words, first, last))]


def _trimmed(words: list[str], first: int, last: int) -> Phrase | None:
    content = [place for place in range(first, last) if words[place] not in _POINTLESS | _PARTING]
    return Phrase(content[0], content[-1] + 1) if content else None
