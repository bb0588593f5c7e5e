"""Which pictures of a library have cells, of which place head, and where they lie."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.search.library.manifest_file import as_written, untrue
from deixis.shapes import Int64

CELL_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    hash TEXT PRIMARY KEY, head TEXT NOT NULL, slot INTEGER NOT NULL, sum TEXT NOT NULL,
    UNIQUE (head, slot)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class CellSlot:
    """A content, the slot of its cells, and what their bytes were when they were written."""

    hash: str
    slot: int
    sum: str


class CellTable:
    """A table in the manifest's file; it is written inside the manifest's transactions."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, head: str, slots: Iterable[CellSlot]) -> None:
        """Enter contents that now have cells; cells of another head are forgotten."""
        rows = ((one.hash, head, one.slot, one.sum) for one in slots)
        self._db.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)", rows)

    def remove(self, names: Iterable[str]) -> None:
        """Forget the cells of contents, so that they are made again."""
        self._db.executemany("DELETE FROM cells WHERE hash = ?", ((name,) for name in names))

    def remove_beyond(self, head: str, slot: int) -> None:
        """Forget cells whose slots the file does not hold."""
        self._db.execute("DELETE FROM cells WHERE head = ? AND slot >= ?", (head, slot))

    def of(self, head: str) -> list[CellSlot]:
        """Every content with cells of a head, by slot."""
        query = "SELECT hash, slot, sum FROM cells WHERE head = ? ORDER BY slot"
        return [_slot(row) for row in self._rows(query, head)]

    def names(self, head: str) -> set[str]:
        """The hashes of the contents with cells of a head."""
        return {name for (name,) in self._rows("SELECT hash FROM cells WHERE head = ?", head)}

    def some(self, head: str, count: int) -> list[CellSlot]:
        """About as many contents with cells of a head, spread over the file."""
        step = max(1, self.end(head) // count)
        query = f"SELECT hash, slot, sum FROM cells WHERE head = ? AND slot % {step} = 0"
        return [_slot(row) for row in self._rows(query, head)]

    def slots_by_row(self, head: str, rows: int) -> Int64[ndarray, " row"]:
        """For each row of the vectors, the slot of the content that begins there, or -1."""
        query = "SELECT content.row, slot FROM cells JOIN content USING (hash) WHERE head = ?"
        slots = np.full(rows, -1, dtype=np.int64)
        try:
            pairs = np.array(self._rows(query, head), dtype=np.int64).reshape(-1, 2)
        except (ValueError, TypeError):
            raise untrue("cells") from None
        if (pairs < 0).any():
            raise untrue("cells")
        pairs = pairs[pairs[:, 0] < rows]  # later ones came after the vectors were mapped
        slots[pairs[:, 0]] = pairs[:, 1]
        return slots

    def end(self, head: str) -> int:
        """The slot at which the next cells of a head go."""
        found = self._rows("SELECT coalesce(max(slot) + 1, 0) FROM cells WHERE head = ?", head)
        return int(found[0][0]) if found else 0

    def _rows(self, query: str, head: str) -> list[Any]:
        try:
            return self._db.execute(query, (head,)).fetchall()
        except sqlite3.OperationalError:  # an older library on a disk that cannot be written
            return []


def _slot(row: tuple[Any, ...]) -> CellSlot:
    slot = CellSlot(*as_written(row, (str, int, str), "cells"))
    if slot.slot < 0:
        raise untrue("cells")
    return slot
