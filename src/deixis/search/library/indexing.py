"""One pass that updates a generation from the files on disk."""

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from deixis.errors import SearchError
from deixis.features.store.exif import shot_of
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.generation import Generation
from deixis.search.library.manifest import FileEntry
from deixis.search.library.pictures.encode_group import EncodedGroup, cores, encode_group
from deixis.search.library.pictures.folder_scan import (
    FolderScan,
    FoundFile,
    content_hash,
    lies_in,
    reason_of,
    scan,
)

Kind = Literal["added", "updated", "renamed", "removed", "unchanged", "broken"]
ENCODE = 16  # pictures encoded together; a kill loses some groups for each thread that encodes
COMMIT = 512  # files written together when nothing is to be encoded


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file."""

    path: str
    kind: Kind
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IndexingReport:
    """What a pass did: how many files of each outcome, pictures encoded, and what is broken."""

    counts: Mapping[Kind, int]
    encoded: int
    broken: tuple[FileOutcome, ...]

    @property
    def problems(self) -> tuple[FileOutcome, ...]:
        """Files that cannot be searched, each with its reason."""
        return self.broken

    @property
    def summary(self) -> str:
        """One line for people."""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
        return f"{counts or 'no pictures found'}; {self.encoded} encoded"

    @property
    def needs_attention(self) -> bool:
        """Whether there were files and not one of them is usable."""
        usable = sum(self.counts.get(kind, 0) for kind in ("added", "updated", "renamed"))
        return bool(self.broken) and usable + self.counts.get("unchanged", 0) == 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        broken = [asdict(outcome) for outcome in self.broken]
        return {"counts": dict(self.counts), "encoded": self.encoded, "broken": broken}


@dataclass(frozen=True, slots=True)
class _Work:
    entry: FileEntry
    kind: Kind
    old: str | None = None  # the path it was renamed from


class Indexing:
    """Adds, updates, renames and removes by content hash; a file is reported once it is safe."""

    def __init__(
        self,
        generation: Generation,
        encoder: SearchEncoder,
        on_file: Callable[[FileOutcome, int, int], None],
    ) -> None:
        self._generation, self._encoder, self._on_file = generation, encoder, on_file
        self._counts: Counter[Kind] = Counter()
        self._broken: list[FileOutcome] = []
        self._waiting: list[_Work] = []
        self._fresh: dict[str, FileEntry] = {}  # of those that wait, one file per content to encode
        self._sent: deque[tuple[list[_Work], Future[EncodedGroup]]] = deque()
        self._coming: set[str] = set()  # contents that were sent; settled in the order of sending
        self._failed: dict[str, str] = {}  # content → why it could not be encoded
        self._workers = cores() if encoder.concurrent else 1
        self._encoded, self._total = 0, 0

    def run(self, paths: Iterable[Path]) -> IndexingReport:
        """Process every picture below the paths once."""
        if self._encoder.places is not None:
            self._generation.point_by(self._encoder.places.identity, self._encoder.places.dim)
        self._generation.repair()
        seen = scan(paths)
        self._prepare(seen)
        for path, reason in seen.unreadable.items():
            self._report(FileOutcome(path, "broken", reason))
        with _threads(self._workers) as pool:
            for path in sorted(seen.files):
                self._look(seen.files[path])
                if len(self._fresh) >= ENCODE or len(self._waiting) >= COMMIT:
                    self._send(pool)
            self._send(pool)
            while self._sent:
                self._settle()
        self._generation.write({}, [], list(self._gone))
        self._take_notes({os.path.dirname(path) for path in seen.files})
        self._take_shots()
        for path in self._gone:
            self._report(FileOutcome(path, "removed"))
        return IndexingReport(dict(self._counts), self._encoded, tuple(self._broken))

    def _prepare(self, seen: FolderScan) -> None:
        manifest = self._generation.manifest
        self._known = manifest.files_below(seen.paths)
        unknown = [path for path in seen.missing if path not in self._known]
        if unknown:
            raise SearchError(f"'{unknown[0]}' does not exist; give folders or picture files")
        self._remember_roots(seen)
        self._stored = manifest.stored()
        self._lacking = self._without_cells()
        self._gone = {path: entry for path, entry in self._known.items() if seen.vanished(path)}
        self._moved = {entry.hash: path for path, entry in self._gone.items() if entry.hash}
        self._total = len(seen.files) + len(seen.unreadable) + len(self._gone)

    def _remember_roots(self, seen: FolderScan) -> None:
        manifest = self._generation.manifest
        given = {path for path in seen.paths if os.path.isdir(path)}
        folders = given.union(manifest.folders())
        singly = (path for path in seen.paths & seen.files.keys() if not lies_in(path, folders))
        with manifest.writing():
            manifest.add_roots((*given, *singly))

    def _without_cells(self) -> set[str]:
        """Contents with vectors that have no cells yet, where the model gives some."""
        if self._encoder.places is None:
            return set()
        return self._stored - self._generation.manifest.cells.names(self._generation.header.places)

    def _take_notes(self, folders: set[str]) -> None:
        from deixis.search.library.pictures.sidecars import update_notes  # no search reads them

        with self._generation.manifest.writing():
            unusable = update_notes(self._generation.manifest.facts, folders)
        self._total += len(unusable)
        for path, reason in unusable.items():
            self._report(FileOutcome(path, "broken", f"no labels or words read from it:{reason}"))

    def _take_shots(self) -> None:
        """Read the camera's notes of pictures that have none yet, older libraries' among them."""
        facts = self._generation.manifest.facts
        lacking = facts.without_shot()
        for start in range(0, len(lacking), COMMIT):
            some = lacking[start : start + COMMIT]
            shots = {name: shot_of(Path(path)) for name, path in some}
            with self._generation.manifest.writing():
                facts.add_shots(shots)

    def _look(self, found: FoundFile) -> None:
        """Decide from size, time and content what a file needs."""
        entry = FileEntry(found.path, found.size, found.mtime_ns, None)
        known = self._known.get(found.path)
        sound = known is not None and known.reason is None and known.hash in self._stored
        whole = sound and known is not None and known.hash not in self._lacking
        if known is not None and whole and replace(known, hash=None) == entry:
            self._report(FileOutcome(found.path, "unchanged"))
            return
        try:
            name = content_hash(found.path)
        except OSError as error:
            self._waiting.append(_Work(replace(entry, reason=reason_of(error)), "broken"))
            return
        entry = replace(entry, hash=name)
        known_whole = name in self._stored and name not in self._lacking
        if not known_whole and name not in self._coming:
            self._fresh[name] = entry
        if known is not None:
            same = sound and known.hash == name
            self._waiting.append(_Work(entry, "unchanged" if same else "updated"))
        elif old := self._moved.pop(name, None):
            del self._gone[old]
            self._waiting.append(_Work(entry, "renamed", old))
        else:
            self._waiting.append(_Work(entry, "added"))

    def _send(self, pool: Executor) -> None:
        """Have what is new encoded in another thread; settle the oldest when enough are sent."""
        encoded = pool.submit(encode_group, self._encoder, self._fresh)
        self._sent.append((self._waiting, encoded))
        self._coming.update(self._fresh)
        self._waiting, self._fresh = [], {}
        if len(self._sent) > self._workers + 1:
            self._settle()

    def _settle(self) -> None:
        """Make the files sent first durable, then report them."""
        waiting, encoded = self._sent.popleft()
        group = encoded.result()
        self._failed.update(group.reasons)
        done = []
        for work in waiting:
            reason = self._failed.get(work.entry.hash or "", work.entry.reason)
            kind: Kind = work.kind if reason is None else "broken"
            done.append(_Work(replace(work.entry, reason=reason), kind, work.old))
        old = [work.old for work in done if work.old is not None]
        # Pictures that lacked cells alone have their vectors already.
        fresh = {name: own for name, own in group.vectors.items() if name not in self._stored}
        files = [work.entry for work in done]
        self._generation.write(fresh, files, old, group.looks, group.cells)
        self._stored.update(group.vectors)
        self._lacking.difference_update(group.vectors)
        self._encoded += len(group.vectors)
        for work in done:
            note = work.entry.reason or (f"was {work.old}" if work.old else "")
            self._report(FileOutcome(work.entry.path, work.kind, note))

    def _report(self, outcome: FileOutcome) -> None:
        self._counts[outcome.kind] += 1
        if outcome.kind == "broken":
            self._broken.append(outcome)
        self._on_file(outcome, self._counts.total(), self._total)


@contextmanager
def _threads(number: int) -> Iterator[Executor]:
    """Threads that are not waited for longer than needed when something fails."""
    pool = ThreadPoolExecutor(number, "encoding")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
