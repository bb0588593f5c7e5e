"""Whether a library's bytes are those that were written, and repair of what can be repaired."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import SearchError
from deixis.files import locked, write_atomic
from deixis.search.encoders.load_encoder import PHOTOS
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.current_generation import current_generation
from deixis.search.library.derived_files import damaged_copies, damaged_graphs
from deixis.search.library.generation import (
    VECTORS,
    Generation,
    GenerationHeader,
    checksum_of,
    read_header,
)
from deixis.search.library.library_store import LOCK, LibraryStore
from deixis.search.library.manifest import ContentRows
from deixis.search.library.manifest_file import DamagedManifestError
from deixis.search.library.seal import HEADER, MANIFEST, merged, read_seal
from deixis.search.places.cell_file import CellFile
from deixis.search.places.cell_table import CellSlot
from deixis.shapes import Float32

LoadEncoder = Callable[[str], SearchEncoder]


@dataclass(frozen=True, slots=True)
class Damage:
    """A range of bytes that is not what was written, and what became of it."""

    file: str
    start: int
    end: int
    reason: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """What was compared, what is damaged, and what no checksum covers."""

    folder: str
    pictures: int
    compared: int  # pictures whose vectors have a checksum
    damages: tuple[Damage, ...]
    notes: tuple[str, ...]

    @property
    def needs_attention(self) -> bool:
        """Whether something is damaged that was not repaired."""
        return any(not damage.repaired for damage in self.damages)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def verify(folder: Path, load: LoadEncoder | None = None) -> Verification:
    """Compare every byte that has a checksum; with a way to load the model, repair what can be.

    Vectors are encoded again from their pictures, copies of them are deleted and made again when
    they are next needed, and the header is restored from its copy. A damaged manifest is only
    reported, because which files it named is written nowhere else, and so is a damaged model.
    """
    generation, repair = current_generation(folder), load is not None
    if repair:
        _require_writable(folder, generation)
    with locked(folder / LOCK, seconds=1.0) if repair else nullcontext():
        damages, notes = _small_files(generation, repair)
    if any(not damage.repaired for damage in damages):
        return Verification(str(folder), 0, 0, tuple(damages), tuple(notes))
    try:
        found = _compared(generation)
    except (DamagedManifestError, sqlite3.DatabaseError) as error:
        damages.append(_whole(generation / MANIFEST, f"SQLite cannot read it: {error}"))
        return Verification(str(folder), 0, 0, tuple(damages), tuple(notes))
    if found.uncovered:
        notes.append(f"{found.uncovered} pictures were indexed before there were checksums")
    models = _models(found.header.source)
    damages += found.faults + _copies(generation, repair) + models
    sound = not models and not found.faults  # a damaged model encodes nothing
    repaired = load is not None and sound and _encoded_anew(folder, found, load)
    damages += found.ranges(repaired)
    compared = found.pictures - found.uncovered
    return Verification(str(folder), found.pictures, compared, tuple(damages), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Compared:
    """What a generation's manifest names, and which of it is not what was written."""

    header: GenerationHeader
    faults: list[Damage]
    pictures: int
    uncovered: int  # pictures without a checksum
    lost: list[ContentRows]
    spoilt: list[ContentRows]
    places: CellFile | None
    wrong: list[CellSlot]

    @property
    def names(self) -> list[str]:
        """The contents to encode again."""
        return [*(content.hash for content in self.lost), *(one.hash for one in self.wrong)]

    def ranges(self, repaired: bool) -> list[Damage]:
        """Damaged vectors and cells."""
        cells = [] if self.places is None else _cell_ranges(self.places, self.wrong, repaired)
        unused = [
            Damage(VECTORS, *place, "rows that no picture uses, of what is no number", repaired)
            for place in _places(self.spoilt, self.header.dim)
        ]
        return _ranges(self.lost, self.header.dim, repaired) + unused + cells


def _compared(folder: Path) -> _Compared:
    opened = Generation(folder)
    try:
        faults = [_whole(folder / MANIFEST, fault) for fault in opened.manifest.faults()]
        contents, known = opened.manifest.live(), opened.manifest.checksums()
        lost = damaged_contents(opened, contents, known)
        spoilt = spoilt_rows(opened, contents)
        places, cells = opened.cells, opened.manifest.cells.of(opened.header.places)
        wrong = [] if places is None else places.damaged(cells)
    finally:
        opened.close()
    uncovered = sum(content.hash not in known for content in contents)
    return _Compared(opened.header, faults, len(contents), uncovered, lost, spoilt, places, wrong)


def damaged_contents(
    generation: Generation, contents: list[ContentRows], known: dict[str, str]
) -> list[ContentRows]:
    """The contents whose vectors are missing or not what was written."""
    stored = _stored(generation)
    return [
        content
        for content in contents
        if content.end > len(stored)
        or (
            content.hash in known
            and checksum_of(np.asarray(stored[content.row : content.end])) != known[content.hash]
        )
    ]


def spoilt_rows(generation: Generation, contents: list[ContentRows]) -> list[ContentRows]:
    """Rows that no content owns and that hold what is no number: they spoil every scan."""
    stored = _stored(generation)[: generation.manifest.end()]
    owned = np.zeros(len(stored), dtype=bool)
    for content in contents:
        owned[content.row : content.end] = True
    return [
        ContentRows("", row, 1)
        for row in np.flatnonzero(~owned).tolist()
        if not np.isfinite(stored[row]).all()
    ]


def _stored(generation: Generation) -> Float32[ndarray, "row dim"]:
    """Every row there is, mapped and not read."""
    dim, rows = generation.header.dim, generation.stored_rows()
    if not rows:
        return np.zeros((0, dim), np.float32)
    return np.asarray(np.memmap(generation.folder / VECTORS, "<f4", "r", shape=(rows, dim)))


def _require_writable(*folders: Path) -> None:
    for folder in folders:
        if not os.access(folder, os.W_OK):
            raise SearchError(f"{folder} cannot be written here; add --no-repair to only look")


def _small_files(folder: Path, repair: bool) -> tuple[list[Damage], list[str]]:
    """Compare manifest and header with the seal; without one, a header must at least be read."""
    sealed = read_seal(folder)
    if sealed is None:
        notes = ["manifest and header have no seal yet; the next indexing sets one"]
        return _unreadable(folder / HEADER), notes
    files, header = sealed
    damages = []
    for name, before in files.items():
        ranges = before.damage(folder / name)
        mend = repair and name == HEADER and bool(ranges)
        if mend:
            write_atomic(folder / name, header.encode())
        reason = "its bytes are not those that were sealed"
        damages += [Damage(name, start, end, reason, mend) for start, end in ranges]
    if damages and read_seal(folder) != sealed:
        return [], ["manifest and header are being written; verify again when that is done"]
    return damages, []


def _unreadable(header: Path) -> list[Damage]:
    try:
        read_header(header.parent)
    except SearchError as error:
        return [_whole(header, str(error))]
    return []


def _whole(path: Path, reason: str) -> Damage:
    return Damage(path.name, 0, path.stat().st_size if path.exists() else 0, reason)


def _copies(generation: Path, repair: bool) -> list[Damage]:
    found = []
    for path in damaged_copies(generation):
        name, size = path.relative_to(generation).as_posix(), path.stat().st_size
        reason = "a copy of vectors that is not what was written; the next search makes it again"
        found.append(Damage(name, 0, size, reason, repair))
        if repair:
            path.unlink()
    return found


def _models(source: str) -> list[Damage]:
    again = "export the run again" if source != PHOTOS else "install deixis again"
    return [
        Damage(str(path), 0, path.stat().st_size if path.is_file() else 0, f"{reason}; {again}")
        for path, reason in damaged_graphs(source)
    ]


def _ranges(lost: list[ContentRows], dim: int, repaired: bool) -> list[Damage]:
    return [_damage(VECTORS, "vectors", place, repaired) for place in _places(lost, dim)]


def _places(rows: list[ContentRows], dim: int) -> list[tuple[int, int]]:
    width = 4 * dim
    return merged([(content.row * width, content.end * width) for content in rows])


def _cell_ranges(file: CellFile, wrong: list[CellSlot], repaired: bool) -> list[Damage]:
    ranges = merged([(one.slot * file.width, (one.slot + 1) * file.width) for one in wrong])
    return [_damage(file.path.name, "cells", place, repaired) for place in ranges]


def _damage(file: str, what: str, place: tuple[int, int], repaired: bool) -> Damage:
    reason = f"{what} that are not those that were written"
    reason += "; encoded again from their pictures" if repaired else ""
    return Damage(file, *place, reason, repaired)


def _encoded_anew(folder: Path, found: _Compared, load: LoadEncoder) -> bool:
    if not found.names and not found.spoilt:
        return False
    with LibraryStore(folder) as library:
        if found.names:
            return library.encode_anew(found.names, load(library.header.source))
        library.compact()
        return True
