"""The pictures of a library in the order people look through them, by month or by folder."""

import os
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from deixis.search.library.manifest_file import as_written
from deixis.search.query.filters import Filter

Order = Literal["newest", "folder"]

# One row per picture: of several files with one content the newest stands for it. A photograph
# belongs to the moment it was taken; copying it about only changes the time of its file.
_PICTURES = """
SELECT hash, path, max(mtime_ns) AS changed, look.width, look.height, coalesce(
    {taken}, strftime('%Y-%m-%dT%H:%M:%S', max(mtime_ns) / 1000000000, 'unixepoch', 'localtime')
) AS moment
FROM file JOIN content USING (hash) LEFT JOIN look USING (hash) {shots}
WHERE reason IS NULL AND {where} GROUP BY hash
"""
_HEADING = {
    "newest": "substr(moment, 1, 7)",
    "folder": "folder_of(path)",
}
_SORTED = {
    "newest": "moment DESC, changed DESC, path, hash",
    "folder": "folder_of(path), path, hash",
}


@dataclass(frozen=True, slots=True)
class BrowsedPicture:
    """A picture as it is shown in its place."""

    id: str
    path: str
    changed: datetime  # when its file was last written
    size: tuple[int, int] | None  # width and height of the upright picture
    heading: str  # "2024-06", or its folder


@dataclass(frozen=True, slots=True)
class Heading:
    """A month or folder, and how many pictures it has."""

    name: str
    count: int


class Browsing:
    """Reads the manifest's tables; the library itself is never held in memory."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.create_function("folder_of", 1, os.path.dirname, deterministic=True)
        # A library made before dates were kept, on a disk that is only read, has no such table.
        found = db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'shot'")
        self._keeps_dates = found.fetchone() is not None

    def pictures(
        self, order: Order, start: int, count: int, where: Filter | None
    ) -> list[BrowsedPicture]:
        """Some pictures in order, from a place on."""
        sql, given = self._chosen(where)
        found = self._db.execute(
            f"SELECT hash, path, changed, width, height, {_HEADING[order]} FROM ({sql}) "
            f"ORDER BY {_SORTED[order]} LIMIT ? OFFSET ?",
            (*given, count, start),
        )
        return [_browsed(row) for row in found]

    def headings(self, order: Order, where: Filter | None) -> list[Heading]:
        """Every month or folder with its number of pictures, in order."""
        sql, given = self._chosen(where)
        falling = "DESC" if order == "newest" else ""
        found = self._db.execute(
            f"SELECT {_HEADING[order]} AS heading, count(*) FROM ({sql}) "
            f"GROUP BY heading ORDER BY heading {falling}",
            given,
        )
        return [
            Heading(as_written((name or "",), (str,), "files")[0], count) for name, count in found
        ]

    def captions(self, most: int) -> list[str]:
        """Some captions of pictures, spread over the library, each once."""
        sql = "FROM (SELECT DISTINCT value FROM note WHERE kind = 'caption')"
        total = int(self._db.execute(f"SELECT count(*) {sql}").fetchone()[0])
        step = max(1, total // most)
        found = self._db.execute(
            "SELECT value FROM (SELECT value, row_number() OVER () AS place FROM "
            "(SELECT DISTINCT value FROM note WHERE kind = 'caption')) WHERE place % ? = 0 LIMIT ?",
            (step, most),
        )
        return [as_written(row, (str,), "notes")[0] for row in found]

    def _chosen(self, where: Filter | None) -> tuple[str, tuple[object, ...]]:
        taken, shots = "NULL", ""
        if self._keeps_dates:
            taken, shots = "shot.taken", "LEFT JOIN shot USING (hash)"
        sql = _PICTURES.format(taken=taken, shots=shots, where=where.sql if where else "1")
        return sql, where.parameters if where else ()


def _browsed(row: tuple[Any, ...]) -> BrowsedPicture:
    name, path, changed, width, height, heading = row
    size = () if width is None else (width, height)
    kinds = (str, str, int, str, *(int for _ in size))
    as_written((name, path, changed, heading or "", *size), kinds, "files")
    shown = (width, height) if size else None
    return BrowsedPicture(name, path, _moment(changed), shown, heading or "")


def _moment(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC)
