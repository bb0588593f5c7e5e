"""A search library: one folder that remembers pictures and their vectors."""

import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from deixis.errors import DeixisError, SearchError
from deixis.files import locked, write_atomic
from deixis.neighbours.eight_bit_store import FOLDER as COPIES
from deixis.runs.places.place_head import StoredCells
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.current_generation import (
    CURRENT,
    current_generation,
    generations,
    number_of,
)
from deixis.search.library.forgetting import Forgotten, forget
from deixis.search.library.generation import Generation, GenerationHeader, read_header
from deixis.search.library.indexing import FileOutcome, Indexing, IndexingReport
from deixis.search.library.manifest_file import damage_reported
from deixis.search.library.seal import HEADER, MANIFEST, break_seal, seal

LOCK = ".indexing.lock"
OnFile = Callable[[FileOutcome, int, int], None]  # what became of a file, files done, files in all


def silent(outcome: FileOutcome, done: int, total: int) -> None:
    """Show no progress."""


class LibraryStore:
    """A folder of generations, of which the file ``current`` names the one that counts.

    A new generation grows beside the old one and takes over by one rename, so a reader always
    finds a whole library. Any number of processes may read while one writes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generation = Generation(current_generation(folder))
        self._version = self.generation.folder, self.generation.manifest.changes()

    @classmethod
    def open_or_create(cls, folder: Path, encoder: SearchEncoder) -> "LibraryStore":
        """Open a library for a model, beginning an empty one where there is none."""
        if not (folder / CURRENT).exists():
            with locked(folder / LOCK, seconds=1.0):
                if not (folder / CURRENT).exists():
                    first = folder / "generation-1"
                    Generation.create(first, header_of(encoder)).close()
                    write_atomic(folder / CURRENT, f"{first.name}\n".encode())
        return cls(folder)

    def __enter__(self) -> "LibraryStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def is_current(self) -> bool:
        """Whether nobody has written to the library since it was opened."""
        if not (self.folder / CURRENT).exists():
            raise SearchError(f"the library '{self.folder}' is gone")
        now = current_generation(self.folder)
        return self._version == (now, self.generation.manifest.changes())

    def close(self) -> None:
        """Close the library."""
        self.generation.close()

    @property
    def header(self) -> GenerationHeader:
        """Whose vectors the library holds."""
        return self.generation.header

    def require(self, encoder: SearchEncoder) -> None:
        """Refuse a model whose vectors cannot be compared with the stored ones."""
        if encoder.identity == self.header.model:
            self._require_lengths(encoder)
            return
        files = len(self.generation.manifest.files())
        raise SearchError(
            f"library '{self.folder}' holds vectors of model {self.header.model[:12]} "
            f"({self.header.source}), but this model is {encoder.identity[:12]} "
            f"({encoder.source}); their scores cannot be compared. To encode its {files} files "
            "again beside the old vectors and switch over when all are done: deixis index "
            f"--rebuild --library {self.folder} --model {encoder.source}. To keep both, index into "
            "another folder."
        )

    def _require_lengths(self, encoder: SearchEncoder) -> None:
        """Refuse a header that was tampered with before sound vectors are taken for damaged."""
        wanted, header = header_of(encoder), self.header
        cells = wanted.cell_dim if wanted.places == header.places else header.cell_dim
        if (header.dim, header.cell_dim) != (wanted.dim, cells):
            raise SearchError(
                f"{self.generation.folder / HEADER} is damaged: it says that vectors have "
                f"{header.dim} numbers and cells {header.cell_dim}, those of its model have "
                f"{wanted.dim} and {cells}; write these into it"
            )

    def add(
        self, paths: Iterable[Path], encoder: SearchEncoder, on_file: OnFile = silent
    ) -> IndexingReport:
        """Bring the library in line with the disk below some paths, encoding only new content."""
        self.require(encoder)
        with damage_reported(self.generation.folder), self.writing():
            return self._bring_in_line(paths, encoder, on_file)

    def encode_anew(self, names: Sequence[str], encoder: SearchEncoder) -> bool:
        """Make the vectors of some contents again from their files; whether all could be."""
        self.require(encoder)
        manifest = self.generation.manifest
        files = [Path(entry.path) for name in names for entry in manifest.files_of(name)]
        with self.writing():
            with manifest.writing():
                manifest.remove_contents(names)
                manifest.cells.remove(names)
            # Eight-bit copies were made from these vectors; they are made again when next needed.
            shutil.rmtree(self.generation.folder / COPIES, ignore_errors=True)
            self._bring_in_line([file for file in files if file.exists()], encoder, silent)
            self._compact()  # the damaged rows may hold what is no number, which spoils a scan
            return set(names) <= self.generation.manifest.stored()

    def forget(self, paths: Iterable[Path]) -> Forgotten:
        """Take folders or pictures out, and leave their vectors behind at once."""
        with damage_reported(self.generation.folder), self.writing():
            found = forget(self.generation.manifest, paths)
            self._compact()
            return found

    def compact(self) -> None:
        """Leave rows behind that no picture uses any more."""
        with self.writing():
            self._compact()

    def _bring_in_line(
        self, paths: Iterable[Path], encoder: SearchEncoder, on_file: OnFile
    ) -> IndexingReport:
        if encoder.source != self.header.source:
            self.generation.point_to(encoder.source)
        report = Indexing(self.generation, encoder, on_file).run(paths)
        manifest = self.generation.manifest
        if manifest.end() > 2 * manifest.live_parts():
            self._compact()
        return report

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one process that indexes into this folder; seal the library when it is done."""
        with locked(self.folder / LOCK, seconds=1.0):
            self._collect()
            break_seal(self.generation.folder)
            try:
                yield
            except DeixisError:  # refused, not cut off: what was written before is whole
                self._seal()
                raise
            self._seal()

    def _seal(self) -> None:
        """Seal the generation unless another process has replaced it, or a reader is in the way."""
        folder = self.generation.folder
        if (folder / HEADER).exists() and self.generation.manifest.settle():
            seal(folder)

    def _collect(self) -> None:
        """Remove generations whose making was killed; those of a rebuild are still of use."""
        for folder in generations(self.folder):
            if folder == self.generation.folder:
                continue
            try:
                leftover = read_header(folder).model == "" or not (folder / MANIFEST).is_file()
            except SearchError:
                leftover = True
            if leftover:
                shutil.rmtree(folder, ignore_errors=True)

    def rebuild(
        self, paths: Iterable[Path], encoder: SearchEncoder, on_file: OnFile = silent
    ) -> IndexingReport:
        """Encode everything known, and some paths, with another model; switch when all is done.

        A rebuild that was killed goes on where it stopped.
        """
        manifest = self.generation.manifest
        known = [Path(path) for path in (*manifest.folders(), *manifest.files())]
        old = self.generation
        with self.writing():
            new = self._unfinished(encoder) or Generation.create(self._next(), header_of(encoder))
            present = [path for path in known if path.exists()]
            report = Indexing(new, encoder, on_file).run([*present, *paths])
            with manifest.writing():
                self._switch(new)
        old.close()
        return report

    def _unfinished(self, encoder: SearchEncoder) -> Generation | None:
        for folder in generations(self.folder):
            if folder != self.generation.folder and (folder / HEADER).exists():
                found = Generation(folder)
                if found.header.model == encoder.identity:
                    return found
                found.close()
        return None

    def _next(self) -> Path:
        last = number_of(generations(self.folder)[-1])
        return self.folder / f"generation-{last + 1}"

    def _compact(self) -> None:
        """Copy what is alive into a new generation, leaving the rows of gone content behind."""
        old = self.generation
        building = self._next()
        # Its model is named only when it is whole: a leftover must not pass for a rebuild.
        new = Generation.create(building, replace(old.header, model=""))
        with old.manifest.writing():
            vectors = old.vectors()
            live = {c.hash: vectors[c.row : c.end] for c in old.manifest.live()}
            new.manifest.add_roots(old.manifest.roots())
            new.write(live, list(old.manifest.files().values()), [], cells=stored_cells(old, live))
            old.manifest.facts.copy_to(new.manifest.facts)
            new.close()
            self._switch(Generation.create(building, old.header))
        old.close()

    def _switch(self, new: Generation) -> None:
        """Let a whole generation take over; the caller holds the old one's write lock."""
        write_atomic(self.folder / CURRENT, f"{new.folder.name}\n".encode())
        self.generation = new
        for folder in generations(self.folder):
            if folder != new.folder:
                # The header goes first: a writer that waited for the lock sees it has lost.
                (folder / HEADER).unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)


def header_of(encoder: SearchEncoder) -> GenerationHeader:
    """The header of a generation with a model's vectors."""
    header = GenerationHeader(encoder.identity, encoder.source, encoder.dim)
    if encoder.places is None:
        return header
    return replace(header, places=encoder.places.identity, cell_dim=encoder.places.dim)


def stored_cells(generation: Generation, names: Container[str]) -> dict[str, StoredCells]:
    """The cells of some contents, as far as there are any."""
    file = generation.cells
    if file is None:
        return {}
    known = generation.manifest.cells.of(generation.header.places)
    return {one.hash: file.read([one.slot]) for one in known if one.hash in names}
