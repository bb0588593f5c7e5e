"""Embeddings outside torch: what the library stores and the index compares."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32
from numpy import ndarray


@dataclass(frozen=True, slots=True)
class Parts:
    """A masked set of vectors an item; the numpy sibling of ``deixis.types.Embedding``."""

    vectors: Float32[ndarray, "item part dim"]
    mask: Bool[ndarray, "item part"]

    def __len__(self) -> int:
        return len(self.vectors)

    def of(self, item: int) -> Float32[ndarray, "existing dim"]:
        """The vectors that exist of one item."""
        return np.asarray(self.vectors[item][self.mask[item]])


@dataclass(frozen=True, slots=True)
class Encoded:
    """What became of a list of picture files: one item each readable one, in order."""

    parts: Parts
    broken: Mapping[int, str]  # place in the list → why the file could not be encoded
