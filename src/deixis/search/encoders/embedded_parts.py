"""Embeddings outside torch: what the library stores and the index compares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.runs.places.place_head import StoredCells
from deixis.shapes import Bool, Float32


@dataclass(frozen=True, slots=True)
class EmbeddedParts:
    """A masked set of vectors per item; the numpy sibling of ``deixis.types.Embedding``."""

    vectors: Float32[ndarray, "item part dim"]
    mask: Bool[ndarray, "item part"]

    def __len__(self) -> int:
        return len(self.vectors)

    def of(self, item: int) -> Float32[ndarray, "existing dim"]:
        """The vectors that exist of one item."""
        return np.asarray(self.vectors[item][self.mask[item]])


def joined(several: Sequence[EmbeddedParts]) -> EmbeddedParts:
    """The items of several embeddings one after the other, padded to one number of parts."""
    longest = max(one.vectors.shape[1] for one in several)
    vectors, masks = [], []
    for one in several:
        missing = longest - one.vectors.shape[1]
        vectors.append(np.pad(one.vectors, ((0, 0), (0, missing), (0, 0))))
        masks.append(np.pad(one.mask, ((0, 0), (0, missing))))
    return EmbeddedParts(np.concatenate(vectors), np.concatenate(masks))


def joined_files(singles: "Sequence[EncodedFiles]") -> "EncodedFiles":
    """What became of files that were encoded one by one."""
    broken = {place: single.broken[0] for place, single in enumerate(singles) if single.broken}
    cells = [single.cells for single in singles if single.cells is not None]
    every = StoredCells.joined(cells) if cells else None
    return EncodedFiles(joined([single.parts for single in singles]), broken, every)


@dataclass(frozen=True, slots=True)
class EncodedFiles:
    """What became of a list of picture files: one item per readable file, in order."""

    parts: EmbeddedParts
    broken: Mapping[int, str]  # place in the list → why the file could not be encoded
    cells: StoredCells | None = None  # of the readable files, where the model can be pointed at

    def cells_of(self, place: int) -> StoredCells | None:
        """The cells of the file at a place in the list; None where there are none."""
        if self.cells is None or place in self.broken:
            return None
        item = place - sum(other < place for other in self.broken)
        return StoredCells(self.cells.values[item : item + 1], self.cells.scale[item : item + 1])

    def __iter__(self) -> Iterator[Float32[ndarray, "_ dim"] | str]:
        """The vectors of each file in the order of the list, or why it has none."""
        readable = (self.parts.of(item) for item in range(len(self.parts)))
        for place in range(len(self.parts) + len(self.broken)):
            if place in self.broken:
                yield self.broken[place]
                continue
            vectors = next(readable)
            sound = len(vectors) > 0 and bool(np.isfinite(vectors).all())
            yield vectors if sound else "the model gave no finite vector for it"
