"""One generation of a library: all vectors of one model, their manifest and a header."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.errors import SearchError
from deixis.files import make_folder, parse_json, sync, write_atomic
from deixis.neighbours.eight_bit_store import FOLDER
from deixis.runs.places.place_head import StoredCells
from deixis.search.library.manifest import ContentRows, FileEntry, Manifest
from deixis.search.library.manifest_file import require_manifest
from deixis.search.library.pictures.fingerprint import Fingerprint
from deixis.search.library.seal import HEADER, MANIFEST
from deixis.search.places.cell_file import CellFile
from deixis.shapes import Float32

FORMAT = 1
VECTORS = "vectors.f32"
LONGEST_CELL = 65_536  # numbers in one
_HEAD = re.compile(r"[0-9A-Za-z_ -]{1,128}")
SAMPLE = 16  # contents whose vectors are compared with their checksums at every opening


@dataclass(frozen=True, slots=True)
class GenerationHeader:
    """Whose vectors these are: model identity, where to load it, vector length, file format.

    ``places`` is the identity of the place head whose cells lie beside them, "" without any.
    """

    model: str
    source: str
    dim: int
    format: int = FORMAT
    places: str = ""
    cell_dim: int = 0


class Generation:
    """A folder of ``header.json``, ``manifest.sqlite`` and ``vectors.f32`` (rows of float32).

    Where the model can be pointed at, ``cells-HEAD.i8`` holds the cells of every picture.

    Vectors are written and synced before the manifest's commit names them, and only inside its
    write transaction: rows past the manifest's end are leftovers of a killed writer and are
    overwritten, so whatever the manifest names is whole.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.header = read_header(folder)
        require_manifest(folder)
        self.manifest = Manifest(folder / MANIFEST)

    @classmethod
    def create(cls, folder: Path, header: GenerationHeader) -> "Generation":
        """Begin an empty generation."""
        make_folder(folder)
        (folder / VECTORS).touch()
        Manifest(folder / MANIFEST).close()
        write_atomic(folder / HEADER, _as_text(header))
        return cls(folder)

    def point_to(self, source: str) -> None:
        """Record where the model is now."""
        self.header = replace(self.header, source=source)
        write_atomic(self.folder / HEADER, _as_text(self.header))

    @property
    def cells(self) -> CellFile | None:
        """The file of cells; None where pictures cannot be pointed at."""
        known = self.header.places
        return CellFile(self.folder, known, self.header.cell_dim) if known else None

    def point_by(self, places: str, dim: int) -> None:
        """Keep cells of a place head from now on; those of another one are made again."""
        if places == self.header.places:
            return
        self.header = replace(self.header, places=places, cell_dim=dim)
        write_atomic(self.folder / HEADER, _as_text(self.header))
        for old in self.folder.glob("cells-*.i8"):
            if self.cells is None or old != self.cells.path:
                old.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the manifest."""
        self.manifest.close()

    def stored_rows(self) -> int:
        """How many whole rows the vectors file really holds."""
        path = self.folder / VECTORS
        return path.stat().st_size // (4 * self.header.dim) if path.exists() else 0

    def vectors(self) -> Float32[ndarray, "row dim"]:
        """All rows, dead ones included, mapped and not read."""
        rows, end = self.stored_rows(), self.manifest.end()
        if rows < end:
            raise SearchError(
                f"{self.folder / VECTORS} holds {rows} rows, its manifest names {end}; to encode "
                f"the lost ones again: deixis verify --library {self.folder.parent}"
            )
        if end == 0:
            return np.zeros((0, self.header.dim), dtype=np.float32)
        path = self.folder / VECTORS
        mapped = np.asarray(np.memmap(path, "<f4", "r", shape=(end, self.header.dim)))
        self._check_some(mapped)
        return mapped

    def _check_some(self, vectors: Float32[ndarray, "row dim"]) -> None:
        """Refuse vectors of which a few, spread over the file, are not what was written."""
        starts = np.linspace(0, len(vectors), SAMPLE, endpoint=False).astype(np.int64)
        found = {self.manifest.live_from(start) for start in starts.tolist()}
        some = [content for content in found if content is not None]
        known = self.manifest.checksums([content.hash for content in some])
        for content in some:
            if content.hash in known and known[content.hash] != checksum_of(
                vectors[content.row : content.end]
            ):
                raise damaged_row(self.folder, content.row)

    def repair(self) -> None:
        """Forget contents whose vectors are lost, so that they are encoded again."""
        with self.manifest.writing():
            if self.folder.is_dir():
                (self.folder / VECTORS).touch()
                sync(self.folder)
            if self.manifest.end() > self.stored_rows():
                self.manifest.remove_contents_beyond(self.stored_rows())
                # Other vectors will come in the place of the lost ones.
                shutil.rmtree(self.folder / FOLDER, ignore_errors=True)
            if self.cells is not None:
                self.manifest.cells.remove_beyond(self.header.places, self.cells.stored())

    def write(
        self,
        contents: Mapping[str, Float32[ndarray, "_ dim"]],
        files: Sequence[FileEntry],
        gone: Sequence[str],
        looks: Mapping[str, Fingerprint] | None = None,
        cells: Mapping[str, StoredCells] | None = None,
    ) -> None:
        """Store what is known by content hash, enter and forget files, atomically."""
        with self.manifest.writing():
            if not (self.folder / HEADER).exists():
                raise SearchError(
                    f"{self.folder} was replaced by another process meanwhile; index again"
                )
            self.manifest.add_contents(self._append(contents))
            self.manifest.add_checksums({name: checksum_of(contents[name]) for name in contents})
            self.manifest.facts.add_looks(looks or {})
            if self.cells is not None and cells:
                head, table = self.header.places, self.manifest.cells
                table.add(head, self.cells.append(table.end(head), cells))
            self.manifest.remove_files(gone)
            self.manifest.add_files(files)

    def _append(self, contents: Mapping[str, Float32[ndarray, "_ dim"]]) -> list[ContentRows]:
        row = self.manifest.end()
        placed: list[ContentRows] = []
        if not contents:
            return placed
        with open(self.folder / VECTORS, "r+b") as file:
            file.seek(row * 4 * self.header.dim)
            for name, vectors in contents.items():
                if vectors.shape[1] != self.header.dim:
                    found, dim = vectors.shape[1], self.header.dim
                    raise SearchError(f"the model gave vectors of {found}, {dim} were announced")
                file.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
                placed.append(ContentRows(name, row, len(vectors)))
                row += len(vectors)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        return placed


def damaged_row(folder: Path, row: int) -> SearchError:
    """The refusal of vectors of which one is not what was written."""
    return SearchError(
        f"{folder / VECTORS} is damaged at row {row}; to find every damaged row and encode it "
        f"again: deixis verify --library {folder.parent}"
    )


def checksum_of(vectors: Float32[ndarray, "_ dim"]) -> str:
    """A hash of rows as they are stored."""
    content = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _as_text(header: GenerationHeader) -> bytes:
    return (json.dumps(asdict(header), indent=1) + "\n").encode()


def _check_places(header: GenerationHeader) -> None:
    """Refuse what would become part of a file's name, or the length of its records."""
    if not isinstance(header.places, str) or not isinstance(header.cell_dim, int):
        raise ValueError("its place head has no name, or cells without length")
    if header.places and not (
        _HEAD.fullmatch(header.places) and 1 <= header.cell_dim <= LONGEST_CELL
    ):
        raise ValueError("its place head is named by more than letters, or has no cells")


def read_header(folder: Path) -> GenerationHeader:
    """Whose vectors a folder holds, refused with the reason when that cannot be read."""
    path = folder / HEADER
    try:
        read = parse_json(path.read_text(encoding="utf-8"))
        if read["format"] != FORMAT:
            raise SearchError(
                f"{path}: library format {read['format']}, this deixis reads {FORMAT}; "
                "index the pictures into a new folder"
            )
        header = GenerationHeader(**read)
        texts = isinstance(header.model, str) and isinstance(header.source, str)
        if not texts or not isinstance(header.dim, int) or header.dim < 1:
            raise ValueError("it names no model, or vectors without length")
        _check_places(header)
        return header
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SearchError(f"{path} cannot be read as a library header: {error}") from error
