"""The manifest's SQLite file, opened for writing where it can be, and for reading where not."""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deixis.errors import SearchError
from deixis.search.library.seal import MANIFEST, break_seal

_MADE = re.compile(r"CREATE (?:TABLE|INDEX) IF NOT EXISTS (\w+)")


class DamagedManifestError(SearchError):
    """A manifest that is missing, or that SQLite cannot read."""


def open_manifest(path: Path, schema: str) -> sqlite3.Connection:
    """Open a manifest; one on a disk that cannot be written is read as it is."""
    try:
        return _for_writing(path, schema)
    except sqlite3.OperationalError as error:
        refused = error
        if not path.is_file():
            raise SearchError(f"{path} cannot be made: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path, error) from error
    try:
        return _for_reading(path)
    except (sqlite3.DatabaseError, SearchError) as error:
        if is_full(refused):
            raise full_disk(path) from error
        raise error if isinstance(error, SearchError) else _damaged(path, error) from error


def is_full(error: sqlite3.OperationalError) -> bool:
    """Whether SQLite found no room to write."""
    return error.sqlite_errorname in ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")


def full_disk(path: Path) -> OSError:
    """What any other writer says of a full disk."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def require_manifest(folder: Path) -> None:
    """Refuse a generation without a manifest, which SQLite would begin again without a word."""
    path = folder / MANIFEST
    files = (path, path.with_name(f"{MANIFEST}-wal"))  # one that was never settled is in the log
    if not path.is_file() or not any(one.is_file() and one.stat().st_size for one in files):
        found = "is empty" if path.is_file() else "is missing"
        raise DamagedManifestError(
            f"{path} {found}, so nobody knows which pictures the vectors are of; bring it back, or "
            f"index again: deixis index PICTURES --library {folder.parent}-2"
        )


@contextmanager
def damage_reported(folder: Path) -> Iterator[None]:
    """Let what SQLite finds wrong while it reads a generation's manifest become a sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _damaged(folder / MANIFEST, error) from error


def as_written(row: Sequence[Any], kinds: Sequence[type], table: str) -> Sequence[Any]:
    """A row whose values are of the kinds that are written.

    SQLite reads some damaged pages without noticing, and lets anybody store text as a number.
    """
    if not all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True)):
        raise untrue(table)
    return row


def untrue(table: str) -> sqlite3.DatabaseError:
    """What is raised for a row that was never written so."""
    return sqlite3.DatabaseError(f"a row of its table of {table} is not as it was written")


def _refuse_programs(db: sqlite3.Connection, path: Path) -> None:
    """Refuse what a library never has and what would run: views without end, and triggers."""
    found = db.execute("SELECT type, name, sql FROM sqlite_master")
    for kind, name, sql in found:
        if kind not in ("table", "index") or str(sql).upper().startswith("CREATE VIRTUAL"):
            raise SearchError(
                f"{path} holds a {kind} '{name}', which no library has: reading it would run what "
                "somebody else wrote. Do not use this library; index the pictures into a new folder"
            )


def _for_writing(path: Path, schema: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    try:
        _refuse_programs(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # what is acknowledged survives a power cut
        known = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        if not known.issuperset(_MADE.findall(schema)):  # of an older deixis: it changes now
            with suppress(OSError):
                break_seal(path.parent)
            db.executescript(schema)
    except BaseException:
        db.close()
        raise
    return db


def _for_reading(path: Path) -> sqlite3.Connection:
    log = path.with_name(f"{path.name}-wal")
    if log.is_file() and log.stat().st_size:
        raise SearchError(
            f"{path} cannot be written here and was not closed in order; "
            "open the library once where it can be written, for example with: deixis status"
        )
    db = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
    try:
        db.isolation_level = None
        _refuse_programs(db, path)
        db.execute("SELECT count(*) FROM root").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _damaged(path: Path, error: sqlite3.DatabaseError) -> SearchError:
    library = path.parent.parent
    return DamagedManifestError(
        f"{path} cannot be read ({error}); `deixis verify --library {library}` says which bytes "
        "are damaged"
    )
