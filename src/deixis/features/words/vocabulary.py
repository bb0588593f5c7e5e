"""Words and their numbers, learnt from the training texts alone."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np

from deixis.errors import DataError, FeatureError
from deixis.features.store.packed import PackedTokens, offsets_of
from deixis.features.words.treebank_words import treebank_words
from deixis.files import json_hash, parse_json, write_json

Splitting = Literal["plain", "treebank"]  # our words, or those of published vocabularies

PAD, START, END, UNKNOWN, MASK = range(5)
SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>", "<mask>")

FORMAT = "deixis words 1"
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_BYTE_LITERAL = re.compile(r"""\s*b(['"]).*\1\s*""", re.DOTALL)


def split_words(text: str) -> list[str]:
    """Split a text into lower-case runs of letters and digits, apostrophes inside a word kept.

    Unlike NLTK's tokeniser, punctuation is dropped, a hyphen parts two words, and a contraction
    or possessive stays one word (NLTK: ``do n't``, ``dog 's``).

    >>> split_words("The dog's tri-colored coat isn't wet.")
    ['the', "dog's", 'tri', 'colored', 'coat', "isn't", 'wet']
    """
    refuse_byte_literal(text)
    return _WORD.findall(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").lower())


def word_spans(text: str) -> list[tuple[int, int]]:
    """First and one past the last character of every word ``split_words`` finds.

    >>> word_spans("A dog!")
    [(0, 1), (2, 5)]
    """
    found = _WORD.finditer(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return [match.span() for match in found]


def is_byte_literal(text: str) -> bool:
    """Whether a text is the printed form of a byte string, such as ``b'a dog'``."""
    return _BYTE_LITERAL.fullmatch(text) is not None


def refuse_byte_literal(text: str) -> None:
    """Refuse a text that is the printed form of a byte string.

    It comes from reading a file as bytes and calling ``str`` on each line; the stray ``b`` and
    quotes then cost several points of recall without any error.
    """
    if is_byte_literal(text):
        raise DataError(
            f"the text {text[:60]!r} is a printed byte string; decode the file as UTF-8 instead"
        )


@dataclass(frozen=True)
class Vocabulary:
    """Turns texts into word ids between a start and an end; unseen words are unknown.

    >>> vocabulary = Vocabulary.count(["A dog runs.", "A dog!"], minimum=2)
    >>> vocabulary(["The dog"]).ids.tolist()
    [1, 3, 6, 2]
    """

    name: ClassVar[str] = "words"

    words: tuple[str, ...]  # ids follow those of the special words
    splitting: Splitting = "plain"

    @classmethod
    def count(cls, texts: Sequence[str], minimum: int = 1) -> "Vocabulary":
        """Take the words that occur at least ``minimum`` times, in alphabetical order."""
        counts = Counter(word for text in texts for word in split_words(text))
        return cls(tuple(sorted(word for word, count in counts.items() if count >= minimum)))

    @property
    def size(self) -> int:
        """How many ids there are, the special ones included."""
        return len(SPECIAL) + len(self.words)

    def identity(self) -> dict[str, str]:
        """What a cache of these ids must have been made with."""
        cut = _WORD.pattern if self.splitting == "plain" else self.splitting
        return {"weights": json_hash(self.words), "preprocessing": json_hash(cut)}

    def __call__(self, texts: Sequence[str]) -> PackedTokens:
        """Turn texts into ids."""
        rows = [
            [START, *(self._ids.get(word, UNKNOWN) for word in self.split(text)), END]
            for text in texts
        ]
        ids = np.array([id for row in rows for id in row], dtype=np.int64)
        return PackedTokens(ids, offsets_of([len(row) for row in rows]))

    def split(self, text: str) -> list[str]:
        """The words of a text, cut as those of the vocabulary were."""
        if self.splitting == "plain":
            return split_words(text)
        refuse_byte_literal(text)
        return treebank_words(text)

    def word(self, id: int) -> str:
        """The word behind an id."""
        return (SPECIAL + self.words)[id]

    def save(self, path: Path) -> None:
        """Write the words as JSON."""
        record = {"format": FORMAT, "words": self.words}
        if self.splitting != "plain":
            record["splitting"] = self.splitting
        write_json(path, record)

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read what ``save`` wrote."""
        try:
            content = parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FeatureError(f"{path}: no vocabulary can be read here ({error})") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise FeatureError(f"{path}: not a vocabulary; wanted the format '{FORMAT}'")
        splitting = content.get("splitting", "plain")
        if splitting not in get_args(Splitting):
            raise FeatureError(f"{path}: its words were cut by '{splitting}', which is not known")
        return cls(tuple(content["words"]), splitting)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: id for id, word in enumerate(self.words, start=len(SPECIAL))}
