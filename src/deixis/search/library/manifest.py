"""The manifest: which files a library knows, what is in them, and where their vectors lie."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.search.browse.browsing import Browsing
from deixis.search.library.manifest_file import (
    as_written,
    full_disk,
    is_full,
    open_manifest,
    untrue,
)
from deixis.search.library.metadata_store import METADATA_SCHEMA, MetadataStore, cut, marks
from deixis.search.places.cell_table import CELL_SCHEMA, CellTable
from deixis.shapes import Int64

# A vector belongs to a content, not to a path: renames, copies and files that come back cost
# nothing. A content no file has is dead weight until the next compaction.
SCHEMA = """
CREATE TABLE IF NOT EXISTS root (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS content (
    hash TEXT PRIMARY KEY, row INTEGER NOT NULL UNIQUE, parts INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS file (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    hash TEXT,   -- NULL when the file could not even be read
    reason TEXT  -- why it is broken; NULL when it is fine
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS file_hash ON file (hash);
CREATE TABLE IF NOT EXISTS checksum (hash TEXT PRIMARY KEY, sum TEXT NOT NULL) WITHOUT ROWID;
"""
LIVE = "FROM content WHERE hash IN (SELECT hash FROM file WHERE reason IS NULL)"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file as the library last saw it."""

    path: str
    size: int
    mtime_ns: int
    hash: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ContentRows:
    """Where the vectors of a content lie: ``parts`` rows from ``row`` on."""

    hash: str
    row: int
    parts: int

    @property
    def end(self) -> int:
        """The row after the last."""
        return self.row + self.parts


class Manifest:
    """A SQLite file in write-ahead mode: readers never wait, a commit is all or nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = open_manifest(path, SCHEMA + METADATA_SCHEMA + CELL_SCHEMA)
        self.facts = MetadataStore(self._db)
        self.cells = CellTable(self._db)
        self.browsing = Browsing(self._db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction no other writer can enter; it also guards the vectors beside it."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:  # a full disk has ended it already
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError) and is_full(error):
                raise full_disk(self._path) from error
            raise

    def add_roots(self, paths: Iterable[str]) -> None:
        """Remember folders, and files that were indexed singly: only what lies there is shown."""
        self._db.executemany("INSERT OR IGNORE INTO root VALUES (?)", ((path,) for path in paths))

    def add_checksums(self, sums: Mapping[str, str]) -> None:
        """Enter what the vectors of contents were when they were written."""
        self._db.executemany("INSERT OR REPLACE INTO checksum VALUES (?, ?)", sums.items())

    def checksums(self, names: Sequence[str] | None = None) -> dict[str, str]:
        """The checksums of all contents, or of some, as far as they are known."""
        if names is None:
            return dict(self._db.execute("SELECT hash, sum FROM checksum"))
        found: dict[str, str] = {}
        for some in cut(names):
            query = f"SELECT hash, sum FROM checksum WHERE hash IN ({marks(some)})"
            found |= dict(self._db.execute(query, some))
        return found

    def remove_contents(self, names: Iterable[str]) -> None:
        """Forget contents whose vectors are damaged, so that they are encoded again."""
        self._db.executemany("DELETE FROM content WHERE hash = ?", ((name,) for name in names))

    def settle(self) -> bool:
        """Bring everything into the one file, so that it can be sealed; whether it is there."""
        try:
            busy, *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if is_full(error):  # what was committed is safe in the log
                return False
            raise
        return not busy

    def faults(self) -> list[str]:
        """What SQLite finds wrong with the file's structure."""
        found = self._db.execute("PRAGMA integrity_check")
        return [line for (line,) in found if line != "ok"]

    def add_contents(self, contents: Iterable[ContentRows]) -> None:
        """Enter contents that now have vectors."""
        rows = ((content.hash, content.row, content.parts) for content in contents)
        self._db.executemany("INSERT OR REPLACE INTO content VALUES (?, ?, ?)", rows)

    def add_files(self, entries: Iterable[FileEntry]) -> None:
        """Enter files, or what has become of them."""
        rows = ((e.path, e.size, e.mtime_ns, e.hash, e.reason) for e in entries)
        self._db.executemany("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)", rows)

    def remove_files(self, paths: Iterable[str]) -> None:
        """Forget files; their contents stay until the next compaction."""
        gone = [(path,) for path in paths]
        self._db.executemany("DELETE FROM file WHERE path = ?", gone)
        self._db.executemany("DELETE FROM root WHERE path = ?", gone)  # those indexed singly

    def remove_contents_beyond(self, row: int) -> None:
        """Forget contents whose vectors are not all before a row."""
        self._db.execute("DELETE FROM content WHERE row + parts > ?", (row,))

    def roots(self) -> list[str]:
        """The remembered folders, and the files that were indexed singly."""
        return self._paths("SELECT path FROM root ORDER BY path")

    def folders(self) -> list[str]:
        """The remembered folders, to look into when the library is compared with the disk."""
        query = "SELECT path FROM root WHERE path NOT IN (SELECT path FROM file) ORDER BY path"
        return self._paths(query)

    def _paths(self, query: str) -> list[str]:
        return [_path(*as_written(row, (str,), "folders")) for row in self._db.execute(query)]

    def files(self) -> dict[str, FileEntry]:
        """Every known file by path."""
        found = self._db.execute("SELECT path, size, mtime_ns, hash, reason FROM file")
        return {row[0]: _entry(row) for row in found}

    def files_below(self, places: Iterable[str]) -> dict[str, FileEntry]:
        """The known files at some paths or below them, however many others there are."""
        self._refuse("file", "typeof(path) <> 'text'", "files")
        found: dict[str, FileEntry] = {}
        for place in sorted(places):
            below = os.path.join(place, "")
            query = (
                "SELECT path, size, mtime_ns, hash, reason FROM file WHERE path = ? UNION ALL "
                "SELECT path, size, mtime_ns, hash, reason FROM file WHERE path > ? AND path < ?"
            )
            with suppress(UnicodeEncodeError):  # no known file has a name that is not UTF-8
                rows = self._db.execute(query, (place, below, below[:-1] + chr(ord(below[-1]) + 1)))
                found |= {row[0]: _entry(row) for row in rows}
        return found

    def stored(self) -> set[str]:
        """The hashes of all contents that have vectors."""
        wrong = "typeof(row) <> 'integer' OR row < 0 OR typeof(parts) <> 'integer' OR parts < 1"
        self._refuse("content", f"typeof(hash) <> 'text' OR {wrong}", "contents")
        return {name for (name,) in self._db.execute("SELECT hash FROM content")}

    def _refuse(self, table: str, wrong: str, rows: str) -> None:
        """Refuse a table with rows that were never written so, without reading them one by one."""
        if self._db.execute(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1").fetchone():
            raise untrue(rows)

    def live_parts(self) -> int:
        """How many rows the contents of sound files have."""
        return int(self._db.execute(f"SELECT coalesce(sum(parts), 0) {LIVE}").fetchone()[0])

    def contents(self) -> dict[str, ContentRows]:
        """Every content that has vectors, dead ones included, by hash."""
        found = self._db.execute("SELECT hash, row, parts FROM content ORDER BY row")
        return {row[0]: _content(row) for row in found}

    def live(self) -> list[ContentRows]:
        """The contents that at least one sound file has, in row order."""
        found = self._db.execute(f"SELECT hash, row, parts {LIVE} ORDER BY row")
        return [_content(row) for row in found]

    def live_from(self, row: int) -> ContentRows | None:
        """The first live content at or behind a row."""
        query = (
            "SELECT hash, row, parts FROM content WHERE row >= ? AND EXISTS (SELECT 1 FROM file "
        )
        query += "WHERE file.hash = content.hash AND reason IS NULL) ORDER BY row LIMIT 1"
        found = self._db.execute(query, (row,)).fetchone()
        return None if found is None else _content(found)

    def live_rows(self) -> Int64[ndarray, "2 live"]:
        """First row and number of rows of every live content, in row order."""
        # One text per column: a million pairs of Python objects take twice the time.
        found = self._db.execute(f"SELECT group_concat(row), group_concat(parts) {LIVE}").fetchone()
        try:
            columns = [np.fromstring(text or "", dtype=np.int64, sep=",") for text in found]
        except ValueError:
            raise untrue("contents") from None
        if (columns[0] < 0).any() or (columns[1] < 1).any():
            raise untrue("contents")
        return np.stack(columns)[:, np.argsort(columns[0])]

    def end(self) -> int:
        """The row at which the next vectors go."""
        query = "SELECT row + parts FROM content ORDER BY row DESC LIMIT 1"
        found = self._db.execute(query).fetchone()
        return 0 if found is None else int(found[0])

    def changes(self) -> int:
        """A number that changes whenever another process has written to the manifest."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def files_of(self, name: str) -> list[FileEntry]:
        """The sound files that have a content."""
        query = "SELECT * FROM file WHERE hash = ? AND reason IS NULL ORDER BY path"
        return [_entry(row) for row in self._db.execute(query, (name,))]

    def content(self, name: str) -> ContentRows | None:
        """The content with a hash, if it has vectors."""
        found = self._db.execute("SELECT hash, row, parts FROM content WHERE hash = ?", (name,))
        row = found.fetchone()
        return None if row is None else _content(row)

    def items_at(self, rows: Sequence[int]) -> dict[int, tuple[str, tuple[str, ...]]]:
        """By the row it begins at: a content, and the sound files that have it, if any do."""
        paths: dict[int, list[str]] = {}
        names: dict[int, str] = {}
        for some in cut(rows):
            found = self._db.execute(
                "SELECT content.row, content.hash, file.path FROM content JOIN file USING (hash) "
                f"WHERE content.row IN ({marks(some)}) AND file.reason IS NULL ORDER BY file.path",
                some,
            )
            for row, name, path in found:
                as_written((name, path), (str, str), "files")
                names[row] = name
                paths.setdefault(row, []).append(path)
        return {row: (name, tuple(paths[row])) for row, name in names.items()}


def _entry(row: tuple[Any, ...]) -> FileEntry:
    """A row of the table of files."""
    path, *numbers, name, reason = row
    texts = [text for text in (name, reason) if text is not None]
    as_written((path, *numbers, *texts), (str, int, int, *(str for _ in texts)), "files")
    return FileEntry(_path(path), *row[1:])


def _path(path: str) -> str:
    """A path; no system has one with a zero in it, and Python raises what nobody expects."""
    if "\0" in path:
        raise untrue("paths")
    return path


def _content(row: tuple[Any, ...]) -> ContentRows:
    """A row of the table of contents."""
    found = ContentRows(*as_written(row, (str, int, int), "contents"))
    if found.row < 0 or found.parts < 1:
        raise untrue("contents")
    return found
