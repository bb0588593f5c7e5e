"""What a library knows of pictures beside their vectors: looks, labels and caption words."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from deixis.search.filters import Filter
from deixis.search.look import Look

SCHEMA = """
CREATE TABLE IF NOT EXISTS look (
    hash TEXT PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL, print BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS note_source (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS note (
    path TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, source TEXT NOT NULL,
    PRIMARY KEY (path, kind, value)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS note_of_source ON note (source);
"""
T = TypeVar("T")
LOT = 10_000  # SQLite takes some 32,000
TABLES = {"look": 4, "note_source": 3, "note": 4}


@dataclass(frozen=True, slots=True)
class NoteSource:
    """A metadata file as it was when its notes were read."""

    path: str
    size: int
    mtime_ns: int


class Facts:
    """Tables in the manifest's file; they are written inside its transactions."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.create_function("folded", 1, str.casefold, deterministic=True)
        db.executescript(SCHEMA)

    def add_looks(self, looks: Mapping[str, Look]) -> None:
        """Remember sizes and fingerprints by content hash."""
        rows = ((name, look.width, look.height, look.print) for name, look in looks.items())
        self._db.executemany("INSERT OR REPLACE INTO look VALUES (?, ?, ?, ?)", rows)

    def looks(self, names: Sequence[str]) -> dict[str, Look]:
        """Sizes and fingerprints of some contents, as far as they are known."""
        found: dict[str, Look] = {}
        for some in cut(names):
            rows = self._db.execute(f"SELECT * FROM look WHERE hash IN ({marks(some)})", some)
            found |= {name: Look(width, height, print) for name, width, height, print in rows}
        return found

    def sources(self) -> set[NoteSource]:
        """The metadata files whose notes are held."""
        return {NoteSource(*row) for row in self._db.execute("SELECT * FROM note_source")}

    def replace_notes(self, source: NoteSource, notes: Iterable[tuple[str, str, str]]) -> None:
        """Hold path, kind and value from one metadata file instead of what it said before."""
        self.forget_notes(source.path)
        self._db.execute(
            "INSERT INTO note_source VALUES (?, ?, ?)", (source.path, source.size, source.mtime_ns)
        )
        rows = ((*note, source.path) for note in notes)
        self._db.executemany("INSERT OR IGNORE INTO note VALUES (?, ?, ?, ?)", rows)

    def forget_notes(self, source: str) -> None:
        """Forget what one metadata file said."""
        self._db.execute("DELETE FROM note WHERE source = ?", (source,))
        self._db.execute("DELETE FROM note_source WHERE path = ?", (source,))

    def labels(self, most: int) -> list[tuple[str, int]]:
        """The most frequent labels and how many files have them."""
        found = self._db.execute(
            "SELECT value, count(*) AS n FROM note WHERE kind = 'label' "
            "GROUP BY value ORDER BY n DESC, value LIMIT ?",
            (most,),
        )
        return [(value, count) for value, count in found]

    def passing(self, condition: Filter) -> Int64[ndarray, " row"]:
        """The rows of the pictures of which a sound file meets a condition."""
        found = self._db.execute(
            "SELECT DISTINCT content.row FROM content JOIN file USING (hash) "
            f"WHERE file.reason IS NULL AND {condition.sql}",
            condition.parameters,
        )
        return np.fromiter((row for (row,) in found), dtype=np.int64)

    def copy_to(self, other: "Facts") -> None:
        """Give another manifest all that is known here."""
        for table, columns in TABLES.items():
            rows = self._db.execute(f"SELECT * FROM {table}")
            values = ",".join("?" * columns)
            other._db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({values})", rows)


def cut(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Values in lots that SQLite takes as parameters of one statement."""
    return (values[start : start + LOT] for start in range(0, len(values), LOT))


def marks(values: Sequence[Any]) -> str:
    """A question mark for each value."""
    return ",".join("?" * len(values))
