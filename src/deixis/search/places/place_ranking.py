"""Re-rank the pictures that the text recalled by what is where a person points."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.runs.places.place_head import StoredCells
from deixis.search.library.generation import Generation
from deixis.search.places.cell_file import cells_at
from deixis.search.places.place_reader import PlaceReader
from deixis.search.places.pointed_phrases import PointedPhrases
from deixis.shapes import Bool, Float32, Int64

PICTURES = 128  # scored at once: their cells stay in a processor's cache
CHECKED = 16  # records compared with their checksums at every opening
FEWEST, EXPONENT, MOST = 200, 0.7, 4_000


def recall_depth(size: int) -> int:
    """How many pictures the text recalls of a library of some size, for places to re-order.

    Chosen by measurement, `python -m benchmarks.recall_depth`: at 1,000 and 7,000 photographs it
    keeps 99 % of what ordering every picture gains.

    >>> recall_depth(1_000), recall_depth(100_000)
    (200, 3162)
    """
    return min(max(FEWEST, round(size**EXPONENT)), MOST)


@dataclass(frozen=True, slots=True)
class RecalledRows:
    """Pictures of a library for one query, each by its first row, best first."""

    rows: Int64[ndarray, " picture"]
    scores: Float32[ndarray, " picture"]


class PlaceRanking:
    """Reads the cells of a library's pictures, each named by its first row."""

    def __init__(self, generation: Generation, rows: int, reader: PlaceReader | None) -> None:
        known = generation.cells
        own = reader is not None and reader.identity == generation.header.places
        self._reader = reader if own and known is not None else None
        self._records = None if known is None else known.records()
        self._slots = np.full(rows, -1, dtype=np.int64)
        if own and known is not None and self._records is not None:
            table = generation.manifest.cells
            known.check(table.some(generation.header.places, CHECKED))
            self._slots = table.slots_by_row(generation.header.places, rows)
            self._slots[self._slots >= len(self._records)] = -1  # the file is shorter

    def knows(self, rows: Int64[ndarray, " picture"]) -> Bool[ndarray, " picture"]:
        """Which pictures have cells of this model."""
        found: Bool[ndarray, " picture"] = self._slots[rows] >= 0
        return found

    def reordered(self, pointed: PointedPhrases, text: RecalledRows) -> tuple[RecalledRows, int]:
        """Pictures by text and places together, and how many of them have no cells.

        A picture without cells gets the median of what places add to the others.
        """
        shares, placed = self.shares(pointed, text.rows), self.knows(text.rows)
        if not placed.any():
            return text, len(text.rows)
        total = shares.sum(axis=1)
        total[~placed] = np.median(total[placed])
        scores = text.scores + total
        order = np.lexsort((text.rows, -scores))
        return RecalledRows(text.rows[order], scores[order]), int(np.count_nonzero(~placed))

    def shares(
        self, pointed: PointedPhrases, rows: Int64[ndarray, " picture"]
    ) -> Float32[ndarray, "picture phrase"]:
        """What each phrase at its place adds to the text score of pictures; NaN without cells."""
        shares = np.full((len(rows), len(pointed)), np.nan, dtype=np.float32)
        slots = self._slots[rows]
        if self._reader is None:
            return shares
        placed = np.flatnonzero(slots >= 0)
        # In the order of the file: pages are read once.
        placed = placed[np.argsort(slots[placed])]
        for start in range(0, len(placed), PICTURES):
            some = placed[start : start + PICTURES]
            shares[some] = place_shares(self._reader, pointed, cells_at(self._records, slots[some]))
        return shares


def place_shares(
    reader: PlaceReader, pointed: PointedPhrases, cells: StoredCells
) -> Float32[ndarray, "picture phrase"]:
    """What each phrase at its place adds to the text score of pictures with these cells."""
    scores = reader.score.of_maps(stored_maps(pointed.phrases, cells), pointed.regions)
    shares: Float32[ndarray, "picture phrase"] = scores.astype(np.float32)
    return shares * np.float32(pointed.strength * reader.score.temperature)


def stored_maps(
    phrases: Float32[ndarray, "phrase dim"], cells: StoredCells
) -> Float32[ndarray, "picture phrase 81"]:
    """Where in each picture each phrase is found, from cells in eight bits."""
    picture, cell, dim = cells.values.shape
    flat = cells.values.astype(np.float32).reshape(-1, dim) @ phrases.T
    maps = flat.reshape(picture, cell, len(phrases)).transpose(0, 2, 1)
    return np.ascontiguousarray(maps * cells.scale[:, None, None])
