"""One job of indexing: the pictures of a shard become an ordinary generation in the store."""

import os
import posixpath
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from deixis.errors import SearchError
from deixis.features.store.exif import shot_of
from deixis.features.store.image_files import PictureBytes
from deixis.scale.plan import Picture, ShardPlan
from deixis.scale.sharded_library import Shard, ShardedLibrary, hash_of, shard_of
from deixis.scale.store import MissingObjectError, SilentStoreError, Store, open_store
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.generation import Generation
from deixis.search.library.library_store import header_of
from deixis.search.library.manifest import FileEntry
from deixis.search.library.metadata_store import NoteSource
from deixis.search.library.pictures.encode_files import encode_files, reason_for, storable
from deixis.search.library.pictures.fingerprint import fingerprint_of
from deixis.search.library.pictures.folder_scan import reason_of
from deixis.search.library.pictures.sidecars import notes_of

ENCODE = 32  # pictures read and encoded together
SILENT = 8  # reads in a row without an answer after which the store is given up


@dataclass(frozen=True, slots=True)
class ShardJob:
    """Where pictures come from, where the shard goes, and what embeds them."""

    pictures: str  # address of the store the pictures lie in
    library: str  # address of the library's store
    model: str  # what loads the encoder, on every machine alike
    plan: ShardPlan


def encode_shard(job: ShardJob) -> Shard:
    """Embed the pictures of one shard, store it, and write down that this is done."""
    library = ShardedLibrary(open_store(job.library))
    finished = library.finished(job.plan.key)
    if finished is not None:
        return finished
    encoder = _encoder(job.model)
    if encoder.identity != job.plan.model:
        raise SearchError(
            f"{job.model} is model {encoder.identity[:12]} on {os.uname().nodename} and "
            f"{job.plan.model[:12]} where the work was planned; install the same everywhere"
        )
    with tempfile.TemporaryDirectory(prefix="deixis-shard-") as name:
        folder = Path(name)
        generation = Generation.create(folder, header_of(encoder))
        filling = _Filling(generation, encoder, open_store(job.pictures))
        try:
            filling.run(job.plan)
        finally:
            generation.close()  # the last reader folds SQLite's log into the one file
        shard = shard_of(folder)
        shard = replace(shard, broken=tuple(sorted((*shard.broken, *filling.unusable.items()))))
        library.add_shard(folder, shard)
    # What was refused today may be readable tomorrow: such a job is not done.
    return shard if filling.unread else library.finish(job.plan.key, shard)


@lru_cache(maxsize=1)
def _encoder(model: str) -> SearchEncoder:
    """The encoder, loaded once per process."""
    return load_encoder(model)


@dataclass(frozen=True)
class _Filling:
    """Writes pictures of a store into a generation."""

    generation: Generation
    encoder: SearchEncoder
    store: Store
    unread: dict[str, str] = field(default_factory=dict)  # pictures that were refused, and why
    unusable: dict[str, str] = field(default_factory=dict)  # the same of metadata files

    def run(self, plan: ShardPlan) -> None:
        """Embed every picture; one that cannot be read is entered with the reason."""
        stored: set[str] = set()
        for start in range(0, len(plan.pictures), ENCODE):
            stored |= self._write(plan.pictures[start : start + ENCODE], stored)
        own = {self._path(one.name) for one in plan.pictures}
        with self.generation.manifest.writing():
            if os.path.isabs(self.store.url):  # a server beside this folder may show its pictures
                self.generation.manifest.add_roots([self.store.url])
            for sidecar in plan.sidecars:
                self._take_notes(sidecar, own)

    def _write(self, pictures: Sequence[Picture], stored: set[str]) -> set[str]:
        entries, fresh = [], {}
        for picture, content in zip(pictures, self._contents(pictures), strict=True):
            name = hash_of(content) if isinstance(content, bytes) else None
            reason = None if isinstance(content, bytes) else content
            entries.append(self._entry(picture, name, reason))
            if isinstance(content, bytes) and name is not None and name not in stored:
                fresh[name] = PictureBytes(picture.name, content)
        vectors, reasons, cells = {}, {}, {}
        if fresh:
            encoded = encode_files(self.encoder, list(fresh.values()))
            for place, (name, found) in enumerate(zip(fresh, encoded, strict=True)):
                if isinstance(found, str):
                    reasons[name] = storable(found)
                    continue
                vectors[name] = found
                if (own := encoded.cells_of(place)) is not None:
                    cells[name] = own
        looks = {name: fingerprint_of(fresh[name]) for name in vectors}
        files = [
            FileEntry(e.path, e.size, e.mtime_ns, e.hash, reasons.get(e.hash or "", e.reason))
            for e in entries
        ]
        known = {name: look for name, look in looks.items() if look is not None}
        self.generation.write(vectors, files, [], known, cells)
        with self.generation.manifest.writing():
            facts = self.generation.manifest.facts
            facts.add_shots({name: shot_of(fresh[name]) for name in vectors})
        return set(vectors)

    def _contents(self, pictures: Sequence[Picture]) -> Iterator[bytes | str]:
        silent = 0
        for picture in pictures:
            try:
                yield self.store.read(picture.name)
                silent = 0
            except MissingObjectError:
                yield self._refused(picture, "it vanished after it was listed; index again")
            except (OSError, SearchError) as error:
                silent = silent + 1 if isinstance(error, SilentStoreError) else 0
                if silent == SILENT:  # that is no picture's fault
                    raise
                reason = reason_of(error) if isinstance(error, OSError) else str(error)
                yield self._refused(picture, storable(reason))

    def _refused(self, picture: Picture, reason: str) -> str:
        self.unread[picture.name] = reason
        return reason

    def _entry(self, picture: Picture, name: str | None, reason: str | None) -> FileEntry:
        when = int(picture.modified * 1_000_000_000)
        return FileEntry(self._path(picture.name), picture.size, when, name, reason)

    def _path(self, name: str) -> str:
        return f"{self.store.url}/{name}"

    def _take_notes(self, sidecar: Picture, own: set[str]) -> None:
        """Labels and words of this shard's pictures; an unusable file leaves the reason."""
        folder = posixpath.dirname(sidecar.name)
        with tempfile.TemporaryDirectory(prefix="deixis-notes-") as copy:
            path = Path(copy) / posixpath.basename(sidecar.name)
            try:
                path.write_bytes(self.store.read(sidecar.name))
                found = [(self._path(f), kind, v) for f, kind, v in notes_of(path, folder)]
                for note in found:
                    "".join(note).encode()  # half a character (a lone surrogate) cannot be stored
            except SilentStoreError:
                raise
            except Exception as error:  # whatever is wrong with one file is no reason to stop
                reason = reason_for(error).removeprefix(f"{path}:")
                self.unusable[self._path(sidecar.name)] = reason
                return
        source = NoteSource(self._path(sidecar.name), sidecar.size, 0)
        self.generation.manifest.facts.replace_notes(source, [n for n in found if n[0] in own])
