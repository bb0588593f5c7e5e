"""One generation of a library: all vectors of one model, their manifest and a header."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.errors import SearchError
from deixis.search.look import Look
from deixis.search.manifest import Content, Entry, Manifest

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Header:
    """Whose vectors these are: model identity, where to load it, vector length, file format."""

    model: str
    source: str
    dim: int
    format: int = FORMAT


class Generation:
    """A folder of ``header.json``, ``manifest.sqlite`` and ``vectors.f32`` (rows of float32).

    Vectors are written and synced before the manifest's commit names them, and only inside its
    write transaction: rows past the manifest's end are leftovers of a killed writer and are
    overwritten, so whatever the manifest names is whole.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.header = _read_header(folder)
        self.manifest = Manifest(folder / "manifest.sqlite")

    @classmethod
    def create(cls, folder: Path, header: Header) -> "Generation":
        """Begin an empty generation."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vectors.f32").touch()
        write_atomically(folder / "header.json", _as_text(header))
        return cls(folder)

    def point_to(self, source: str) -> None:
        """Remember where the model lies now."""
        self.header = replace(self.header, source=source)
        write_atomically(self.folder / "header.json", _as_text(self.header))

    def close(self) -> None:
        """Let go of the manifest."""
        self.manifest.close()

    def stored_rows(self) -> int:
        """How many whole rows the vectors file really holds."""
        path = self.folder / "vectors.f32"
        return path.stat().st_size // (4 * self.header.dim) if path.exists() else 0

    def vectors(self) -> Float32[ndarray, "row dim"]:
        """All rows, dead ones included, mapped and not read."""
        rows, end = self.stored_rows(), self.manifest.end()
        if rows < end:
            raise SearchError(
                f"{self.folder / 'vectors.f32'} holds {rows} rows, its manifest names {end}; "
                "index the pictures again to encode the lost ones anew"
            )
        if end == 0:
            return np.zeros((0, self.header.dim), dtype=np.float32)
        path = self.folder / "vectors.f32"
        return np.asarray(np.memmap(path, "<f4", "r", shape=(end, self.header.dim)))

    def repair(self) -> None:
        """Forget contents whose vectors are lost, so that they are encoded again."""
        with self.manifest.writing():
            self.manifest.remove_contents_beyond(self.stored_rows())

    def write(
        self,
        contents: Mapping[str, Float32[ndarray, "_ dim"]],
        files: Sequence[Entry],
        gone: Sequence[str],
        looks: Mapping[str, Look] | None = None,
    ) -> None:
        """Store vectors and looks by content hash, enter files, forget others, all or nothing."""
        with self.manifest.writing():
            if not (self.folder / "header.json").exists():
                raise SearchError(
                    f"{self.folder} was replaced by another process meanwhile; index again"
                )
            self.manifest.add_contents(self._append(contents))
            self.manifest.facts.add_looks(looks or {})
            self.manifest.remove_files(gone)
            self.manifest.add_files(files)

    def _append(self, contents: Mapping[str, Float32[ndarray, "_ dim"]]) -> list[Content]:
        row = self.manifest.end()
        placed: list[Content] = []
        if not contents:
            return placed
        with open(self.folder / "vectors.f32", "r+b") as file:
            file.seek(row * 4 * self.header.dim)
            for name, vectors in contents.items():
                if vectors.shape[1] != self.header.dim:
                    found, dim = vectors.shape[1], self.header.dim
                    raise SearchError(f"the model gave vectors of {found}, {dim} were announced")
                file.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
                placed.append(Content(name, row, len(vectors)))
                row += len(vectors)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        return placed


def write_atomically(path: Path, text: str) -> None:
    """Replace a small file so that a reader sees the old text or the new, never a part."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _as_text(header: Header) -> str:
    return json.dumps(asdict(header), indent=1) + "\n"


def _read_header(folder: Path) -> Header:
    path = folder / "header.json"
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        if read["format"] != FORMAT:
            raise SearchError(
                f"{path}: library format {read['format']}, this deixis reads {FORMAT}; "
                "index the pictures into a new folder"
            )
        return Header(**read)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SearchError(f"{path} cannot be read as a library header: {error}") from error
