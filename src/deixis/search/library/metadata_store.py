"""What a library knows of pictures besides vectors: fingerprints, dates, labels, caption words."""

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from deixis.errors import SearchError
from deixis.features.store.exif import Shot
from deixis.search.library.manifest_file import as_written, untrue
from deixis.search.library.pictures.fingerprint import SIDE, Fingerprint
from deixis.search.query.filters import Filter
from deixis.shapes import Int64

METADATA_SCHEMA = """
CREATE TABLE IF NOT EXISTS look (
    hash TEXT PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL, print BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shot (
    hash TEXT PRIMARY KEY, taken TEXT, latitude REAL, longitude REAL
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
EARTH = 6371.0  # its radius in kilometres
LOT = 10_000  # SQLite takes some 32,000
TABLES = {"look": 4, "shot": 4, "note_source": 3, "note": 4}


@dataclass(frozen=True, slots=True)
class NoteSource:
    """A metadata file as it was when its notes were read."""

    path: str
    size: int
    mtime_ns: int


def _look(row: tuple[Any, ...]) -> Fingerprint:
    look = Fingerprint(*as_written(row, (int, int, bytes), "looks"))
    if look.width < 1 or look.height < 1 or len(look.print) != SIDE * SIDE // 8:
        raise untrue("looks")
    return look


class MetadataStore:
    """Tables in the manifest's file; they are written inside its transactions."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.create_function("folded", 1, str.casefold, deterministic=True)
        db.create_function("kilometres", 4, kilometres, deterministic=True)

    def add_looks(self, looks: Mapping[str, Fingerprint]) -> None:
        """Remember sizes and fingerprints by content hash."""
        rows = ((name, look.width, look.height, look.print) for name, look in looks.items())
        self._db.executemany("INSERT OR REPLACE INTO look VALUES (?, ?, ?, ?)", rows)

    def looks(self, names: Sequence[str]) -> dict[str, Fingerprint]:
        """Sizes and fingerprints of some contents, as far as they are known."""
        found: dict[str, Fingerprint] = {}
        for some in cut(names):
            rows = self._db.execute(f"SELECT * FROM look WHERE hash IN ({marks(some)})", some)
            found |= {name: _look(tuple(look)) for name, *look in rows}
        return found

    def add_shots(self, shots: Mapping[str, Shot]) -> None:
        """Remember when and where photographs were taken, by content hash."""
        rows = ((name, shot.taken, shot.latitude, shot.longitude) for name, shot in shots.items())
        self._db.executemany("INSERT OR REPLACE INTO shot VALUES (?, ?, ?, ?)", rows)

    def without_shot(self) -> list[tuple[str, str]]:
        """Contents whose camera notes were never read, and a file of each."""
        return self._db.execute(
            "SELECT hash, min(path) FROM file WHERE reason IS NULL AND hash IN "
            "(SELECT hash FROM content EXCEPT SELECT hash FROM shot) GROUP BY hash"
        ).fetchall()

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

    def keep_known(self) -> None:
        """Forget how contents look, and where they were taken, that no file has any more."""
        for table in ("look", "shot"):
            self._db.execute(
                f"DELETE FROM {table} WHERE hash NOT IN "
                "(SELECT hash FROM file WHERE hash IS NOT NULL)"
            )

    def labels(self, most: int) -> list[tuple[str, int]]:
        """The most frequent labels and how many files have them."""
        found = self._db.execute(
            "SELECT value, count(*) AS n FROM note WHERE kind = 'label' "
            "GROUP BY value ORDER BY n DESC, value LIMIT ?",
            (most,),
        )
        return [(as_written((value,), (str,), "notes")[0], count) for value, count in found]

    def passing(self, condition: Filter) -> Int64[ndarray, " row"]:
        """The rows of the pictures of which a sound file meets a condition."""
        try:
            found = self._db.execute(
                "SELECT DISTINCT content.row FROM content JOIN file USING (hash) "
                f"WHERE file.reason IS NULL AND {condition.sql}",
                condition.parameters,
            )
        except sqlite3.OperationalError as error:  # made before dates were kept, and only read
            raise SearchError(
                f"the library cannot answer '{condition.said}' ({error}); index its folders again"
            ) from error
        rows = [row for (row,) in found]
        if not set(map(type, rows)) <= {int}:  # there may be a million
            raise untrue("contents")
        return np.array(rows, dtype=np.int64)

    def copy_to(self, other: "MetadataStore") -> None:
        """Give another manifest all that is known here."""
        for table, columns in TABLES.items():
            rows = self._db.execute(f"SELECT * FROM {table}")
            values = ",".join("?" * columns)
            other._db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({values})", rows)


def cut(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Values in groups that fit the parameters of one SQLite statement."""
    return (values[start : start + LOT] for start in range(0, len(values), LOT))


def marks(values: Sequence[Any]) -> str:
    """A question mark for each value."""
    return ",".join("?" * len(values))


def kilometres(
    latitude: float | None, longitude: float | None, north: float, east: float
) -> float | None:
    """The distance between two places on the globe (haversine); None where one is unknown.

    >>> round(kilometres(48.137, 11.575, 52.52, 13.405))  # Munich, Berlin
    504
    """
    if latitude is None or longitude is None:
        return None
    here, there = math.radians(latitude), math.radians(north)
    across = math.sin(math.radians(east - longitude) / 2) ** 2
    chord = math.sin((there - here) / 2) ** 2 + math.cos(here) * math.cos(there) * across
    return EARTH * 2 * math.asin(math.sqrt(min(1.0, chord)))
