"""How words are hidden in training: by which id, swapped for which, and what makes up a word."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.features.words.vocabulary import MASK, SPECIAL
from deixis.shapes import Bool


@dataclass(frozen=True)
class Masking:
    """What stands for a hidden word, and which ids may take the place of one."""

    mask: int | None  # None: whoever reads the words knows no such mark
    first: int  # of the ids that a word may be swapped for
    size: int  # one past the last of them
    # By id, where words are cut into pieces: whether it goes on with the word before it.
    continues: Bool[ndarray, " size"] | None = None

    @classmethod
    def of_vocabulary(cls, size: int) -> "Masking":
        """That of our own vocabularies, whose special words come first."""
        return cls(MASK, len(SPECIAL), size)


def of_pieces(pieces: list[str], mask: int | None) -> Masking:
    """That of a BERT's word pieces: one that begins with ``##`` goes on with the word before it.

    >>> of_pieces(["[MASK]", "dog", "##gy"], 0).continues.tolist()
    [False, False, True]
    """
    return Masking(mask, 0, len(pieces), np.array([piece.startswith("##") for piece in pieces]))
