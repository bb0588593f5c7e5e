"""Penn Treebank tokenisation, which the published vocabularies were counted with."""

import re

# Words that end in a full stop without ending a sentence.
ABBREVIATIONS = {"mr.", "mrs.", "ms.", "dr.", "st.", "jr.", "sr.", "vs.", "etc.", "e.g.", "i.e."}
# Marks that stand alone wherever they are; a hyphen, a slash or an inner full stop does not.
_ALONE = re.compile(r"(\.{2,}|--|``|''|[][(){}<>;@#$%&?!*]|[:,](?!\d))")
_OPENING = re.compile(r"(?<![^\s([{<])\"")
_CLOSING = re.compile(r'"')
_CLITIC = re.compile(r"(?<=[^\s'])(n't|'(?:s|m|d|ll|re|ve)?)(?=\s|$)")
_QUOTING = re.compile(r"(?<!\S)'(?=[^\W_])(?!s\b|m\b|d\b|t|n|re|ve|ll)")
_LAST_STOP = re.compile(r"([^\s.])\.([]\"')}>\s]*)$")
_JOINED = {
    "cannot": "can not", "gonna": "gon na", "gotta": "got ta", "gimme": "gim me",
    "lemme": "lem me", "wanna": "wan na", "'tis": "'t is", "'twas": "'t was",
}  # fmt: skip


def treebank_words(text: str) -> list[str]:
    """Split a text into lower-case words and marks, contractions apart.

    Equal to NLTK's ``word_tokenize`` on the lower-cased text for ordinary captions.

    >>> treebank_words("The dog's tri-colored coat isn't wet.")
    ['the', 'dog', "'s", 'tri-colored', 'coat', 'is', "n't", 'wet', '.']
    """
    text = _OPENING.sub(" `` ", text.lower())
    text = _ALONE.sub(r" \1 ", _CLOSING.sub(" '' ", text))
    text = _LAST_STOP.sub(r"\1 . \2", _QUOTING.sub("' ", text))
    words = [part for word in text.split() for part in _without_stop(word)]
    text = _CLITIC.sub(r" \1", " ".join(words))
    return " ".join(_JOINED.get(word, word) for word in text.split()).split()


def _without_stop(word: str) -> list[str]:
    """A word and the full stop that ends its sentence, apart."""
    if not word.endswith(".") or word in ABBREVIATIONS or not word.strip("."):
        return [word]
    if re.fullmatch(r"(?:\w\.)+", word):  # u.s. keeps its stops
        return [word]
    return [word[:-1], "."]
