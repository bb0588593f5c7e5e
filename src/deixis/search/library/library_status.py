"""Whether a library still agrees with the disk, file by file."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from deixis.search.library.library_store import LibraryStore
from deixis.search.library.manifest import ContentRows, FileEntry
from deixis.search.library.manifest_file import damage_reported
from deixis.search.library.pictures.folder_scan import scan


@dataclass(frozen=True, slots=True)
class LibraryProblem:
    """A file that cannot be found by searching, or not as it is now, and why."""

    path: str
    kind: Literal["broken", "missing", "changed", "lost", "new"]
    reason: str


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """Disk, manifest and vectors compared: what is searchable and every file that is not."""

    folder: str
    model: str
    source: str
    files: int  # files known
    items: int  # different pictures that can be found
    problems: tuple[LibraryProblem, ...]

    @property
    def summary(self) -> str:
        """One line for people."""
        pictures = "1 picture" if self.items == 1 else f"{self.items} pictures"
        files = "1 file" if self.files == 1 else f"{self.files} files"
        return f"{self.folder}: {pictures} in {files}; model {self.source}"

    @property
    def needs_attention(self) -> bool:
        """Whether some files cannot be found by searching, or not as they are now."""
        return bool(self.problems)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"problems": [asdict(problem) for problem in self.problems]}


def status(folder: Path) -> LibraryStatus:
    """Compare a library with the disk; reads no picture and needs no model."""
    with LibraryStore(folder) as library, damage_reported(library.generation.folder):
        generation = library.generation
        rows, manifest = generation.stored_rows(), generation.manifest
        files, contents = manifest.files(), manifest.contents()
        held = {name: content for name, content in contents.items() if content.end <= rows}
        problems = [*_known(files, held), *_unknown(manifest.folders(), files)]
        return LibraryStatus(
            folder=str(folder.resolve()),
            model=library.header.model,
            source=library.header.source,
            files=len(files),
            items=sum(content.end <= rows for content in manifest.live()),
            problems=tuple(sorted(problems, key=lambda problem: problem.path)),
        )


def _known(files: dict[str, FileEntry], held: dict[str, ContentRows]) -> Iterator[LibraryProblem]:
    for path, entry in files.items():
        try:
            now = os.stat(path)
        except OSError:
            yield LibraryProblem(path, "missing", "known to the library, not on disk")
            continue
        if (now.st_size, now.st_mtime_ns) != (entry.size, entry.mtime_ns):
            yield LibraryProblem(path, "changed", "changed on disk since it was indexed")
        elif entry.reason is not None:
            yield LibraryProblem(path, "broken", entry.reason)
        elif entry.hash not in held:
            yield LibraryProblem(path, "lost", "its vectors are not in the library; index again")


def _unknown(roots: list[str], files: dict[str, FileEntry]) -> Iterator[LibraryProblem]:
    seen = scan(roots)
    for path in seen.missing:
        yield LibraryProblem(path, "missing", "an indexed folder that is not on disk")
    for path, reason in seen.unreadable.items():
        if path not in files:
            yield LibraryProblem(path, "broken", reason)
    for path in seen.files.keys() - files.keys():
        yield LibraryProblem(path, "new", "on disk, not indexed yet")
