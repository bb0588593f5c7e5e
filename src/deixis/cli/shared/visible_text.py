"""Text from files made safe for a terminal: characters that could move the cursor are spelt out."""

import unicodedata

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # controls, direction marks, surrogates
JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"  # parts of words and emoji


def visible(text: str, kept: str = "") -> str:
    r"""A text in which control characters are spelt out, so that none reaches the terminal.

    A line's end is one: the rest of a file's name could pass for a line of ours.

    >>> visible("a\x1b[2Jb.jpg")
    'a\\x1b[2Jb.jpg'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in kept else _spelt(one) for one in text)


def _spelt(character: str) -> str:
    if character in JOINERS:
        return character
    if unicodedata.category(character) not in HIDDEN:
        return character
    return character.encode("unicode_escape").decode("ascii")
