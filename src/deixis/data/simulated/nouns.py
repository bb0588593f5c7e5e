"""Which words of captions name things, learnt from how captions use them."""

from collections import Counter
from collections.abc import Sequence

from deixis.features.words.vocabulary import split_words

_OPENING = frozenset(
    {
        *("a", "an", "the", "his", "her", "its", "their", "some", "several", "many"),
        *("one", "two", "three", "four", "five", "six"),
    }
)
_CLOSING = frozenset(
    {
        *("in", "on", "at", "of", "to", "with", "by", "from", "near", "into", "onto", "over"),
        *("under", "up", "down", "through", "across", "along", "around", "behind", "beside"),
        *("between", "against", "above", "below", "outside", "inside", "off", "toward", "towards"),
        *("out", "next", "away", "for", "during", "while", "as", "and", "or", "that", "who"),
        *("which", "is", "are", "was", "were", "has", "have", "it", "them", "him"),
    }
)
_HEAD_SHARE = 0.5  # the share of a noun's uses that end a phrase such as "a brown dog"


def common_nouns(texts: Sequence[str], least: int) -> list[str]:
    """The words used at least so often that mostly end a phrase begun by an article or a number.

    A stand-in for a parser. "A dog jumps over" ends in *jumps* as long as nobody knows that *dog*
    is a noun, so the texts are read twice. Words in -ing are taken for verbs.

    >>> common_nouns(["a brown dog jumps over", "the dog in snow", "a dog", "a cat jumps over"], 2)
    ['dog']
    """
    read = [split_words(text) for text in texts]
    uses = Counter(word for words in read for word in words)
    nouns: set[str] = set()
    for _ in range(2):
        heads = Counter(head for words in read for head in _heads(words, nouns))
        nouns = {w for w, count in heads.items() if count >= max(least, _HEAD_SHARE * uses[w])}
    return sorted(nouns)


def _heads(words: list[str], nouns: set[str]) -> list[str]:
    """The first known nouns, or else the last words, of phrases begun by an article or a number."""
    heads, inside = [], False
    for word, after in zip(words, [*words[1:], "and"], strict=True):
        if word in _OPENING:
            inside = True
        elif word in _CLOSING or word.endswith("ing"):
            inside = False
        elif inside and (word in nouns or _parts(after)):
            heads.append(word)
            inside = False
    return heads


def _parts(word: str) -> bool:
    return word in _CLOSING or word in _OPENING or word.endswith("ing")
