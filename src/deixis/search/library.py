"""A search library: one folder that remembers pictures and their vectors."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from deixis.errors import SearchError
from deixis.search.encoder import Encoder
from deixis.search.generation import Generation, Header, write_atomically
from deixis.search.indexing import Indexing, Outcome, Report

OnFile = Callable[[Outcome, int, int], None]  # what became of a file, files done, files in all


def silent(outcome: Outcome, done: int, total: int) -> None:
    """Show no progress."""


class Library:
    """A folder of generations, of which the file ``current`` names the one that counts.

    A new generation grows beside the old one and takes over by one rename, so a reader always
    finds a whole library. Any number of processes may read while one writes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            name = (folder / "current").read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SearchError(
                f"'{folder}' is not a library; make one with: deixis index PICTURES "
                f"--library {folder}"
            ) from error
        self.generation = Generation(folder / name)

    @classmethod
    def open_or_create(cls, folder: Path, encoder: Encoder) -> "Library":
        """Open a library for a model, beginning an empty one where there is none."""
        if not (folder / "current").exists():
            first = folder / "generation-1"
            Generation.create(first, _header(encoder)).close()
            write_atomically(folder / "current", first.name + "\n")
        return cls(folder)

    def __enter__(self) -> "Library":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        self.generation.close()

    @property
    def header(self) -> Header:
        """Whose vectors the library holds."""
        return self.generation.header

    def require(self, encoder: Encoder) -> None:
        """Refuse a model whose vectors cannot be compared with the stored ones."""
        if encoder.identity == self.header.model:
            return
        files = len(self.generation.manifest.files())
        raise SearchError(
            f"library '{self.folder}' holds vectors of model {self.header.model[:12]} "
            f"({self.header.source}), but this model is {encoder.identity[:12]} "
            f"({encoder.source}); their scores cannot be compared. To encode its {files} files "
            "anew beside the old vectors and switch over when all are done: deixis index "
            f"--rebuild --library {self.folder} --model {encoder.source}. To keep both, index into "
            "another folder."
        )

    def add(self, paths: Iterable[Path], encoder: Encoder, on_file: OnFile = silent) -> Report:
        """Bring the library in line with the disk below some paths, encoding only new content."""
        self.require(encoder)
        if encoder.source != self.header.source:
            self.generation.point_to(encoder.source)
        report = Indexing(self.generation, encoder, on_file).run(paths)
        live = sum(content.parts for content in self.generation.manifest.live())
        if self.generation.manifest.end() > 2 * live:
            self._compact()
        return report

    def rebuild(self, paths: Iterable[Path], encoder: Encoder, on_file: OnFile = silent) -> Report:
        """Encode everything known, and some paths, with another model; switch when all is done.

        A rebuild that was killed goes on where it stopped.
        """
        manifest = self.generation.manifest
        known = [Path(path) for path in (*manifest.roots(), *manifest.files())]
        new = self._unfinished(encoder) or Generation.create(self._next(), _header(encoder))
        present = [path for path in known if path.exists()]
        report = Indexing(new, encoder, on_file).run([*present, *paths])
        old = self.generation
        with manifest.writing():
            self._switch(new)
        old.close()
        return report

    def _unfinished(self, encoder: Encoder) -> Generation | None:
        for folder in sorted(self.folder.glob("generation-*")):
            if folder != self.generation.folder and (folder / "header.json").exists():
                found = Generation(folder)
                if found.header.model == encoder.identity:
                    return found
                found.close()
        return None

    def _next(self) -> Path:
        numbers = [int(path.name.split("-")[1]) for path in self.folder.glob("generation-*")]
        return self.folder / f"generation-{max(numbers) + 1}"

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
            new.write(live, list(old.manifest.files().values()), [])
            old.manifest.facts.copy_to(new.manifest.facts)
            new.close()
            self._switch(Generation.create(building, old.header))
        old.close()

    def _switch(self, new: Generation) -> None:
        """Let a whole generation take over; the caller holds the old one's write lock."""
        write_atomically(self.folder / "current", new.folder.name + "\n")
        self.generation = new
        for folder in self.folder.glob("generation-*"):
            if folder != new.folder:
                # The header goes first: a writer that waited for the lock sees it has lost.
                (folder / "header.json").unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)


def _header(encoder: Encoder) -> Header:
    return Header(encoder.identity, encoder.source, encoder.dim)
