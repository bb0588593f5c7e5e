"""The manifest: which files a library knows, what is in them, and where their vectors lie."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deixis.search.facts import Facts, cut, marks

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
"""
LIVE = "FROM content WHERE hash IN (SELECT hash FROM file WHERE reason IS NULL)"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as the library last saw it."""

    path: str
    size: int
    mtime_ns: int
    hash: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
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
        self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")  # what is acknowledged survives a power cut
        self._db.executescript(SCHEMA)
        self.facts = Facts(self._db)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction no other writer can enter; it also guards the vectors beside it."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def add_roots(self, paths: Iterable[str]) -> None:
        """Remember folders to look into when the library is compared with the disk."""
        self._db.executemany("INSERT OR IGNORE INTO root VALUES (?)", ((path,) for path in paths))

    def add_contents(self, contents: Iterable[Content]) -> None:
        """Enter contents that now have vectors."""
        rows = ((content.hash, content.row, content.parts) for content in contents)
        self._db.executemany("INSERT OR REPLACE INTO content VALUES (?, ?, ?)", rows)

    def add_files(self, entries: Iterable[Entry]) -> None:
        """Enter files, or what has become of them."""
        rows = ((e.path, e.size, e.mtime_ns, e.hash, e.reason) for e in entries)
        self._db.executemany("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)", rows)

    def remove_files(self, paths: Iterable[str]) -> None:
        """Forget files; their contents stay until the next compaction."""
        self._db.executemany("DELETE FROM file WHERE path = ?", ((path,) for path in paths))

    def remove_contents_beyond(self, row: int) -> None:
        """Forget contents whose vectors do not all lie before a row."""
        self._db.execute("DELETE FROM content WHERE row + parts > ?", (row,))

    def roots(self) -> list[str]:
        """The remembered folders."""
        return [path for (path,) in self._db.execute("SELECT path FROM root ORDER BY path")]

    def files(self) -> dict[str, Entry]:
        """Every known file by path."""
        found = self._db.execute("SELECT path, size, mtime_ns, hash, reason FROM file")
        return {row[0]: Entry(*row) for row in found}

    def contents(self) -> dict[str, Content]:
        """Every content that has vectors, dead ones included, by hash."""
        found = self._db.execute("SELECT hash, row, parts FROM content ORDER BY row")
        return {row[0]: Content(*row) for row in found}

    def live(self) -> list[Content]:
        """The contents that at least one sound file has, in row order."""
        found = self._db.execute(f"SELECT hash, row, parts {LIVE} ORDER BY row")
        return [Content(*row) for row in found]

    def end(self) -> int:
        """The row at which the next vectors go."""
        found = self._db.execute("SELECT coalesce(max(row + parts), 0) FROM content").fetchone()
        return int(found[0])

    def changes(self) -> int:
        """A number that changes whenever another process has written to the manifest."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def files_of(self, name: str) -> list[Entry]:
        """The sound files that have a content."""
        query = "SELECT * FROM file WHERE hash = ? AND reason IS NULL ORDER BY path"
        return [Entry(*row) for row in self._db.execute(query, (name,))]

    def content(self, name: str) -> Content | None:
        """The content with a hash, if it has vectors."""
        found = self._db.execute("SELECT hash, row, parts FROM content WHERE hash = ?", (name,))
        row = found.fetchone()
        return None if row is None else Content(*row)

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
                names[row] = name
                paths.setdefault(row, []).append(path)
        return {row: (name, tuple(paths[row])) for row, name in names.items()}
