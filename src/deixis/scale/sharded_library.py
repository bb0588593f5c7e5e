"""A sharded library: a manifest that names ordinary generations, each in a folder of the store.

    current                    which manifest counts; replaced only by whoever saw it last
    manifests/HASH.json        the model and the shards, in order; created once, never changed
    shards/HASH/…              header.json, manifest.sqlite, vectors.f32, cells-*.i8, as on disk
    jobs/KEY.json              what a finished job produced, so that no job is done twice

Everything but ``current`` is named by its content and never changes, so a reader that has a
manifest can read all of it whatever happens beside it.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from deixis.errors import SearchError
from deixis.files import parse_json, sync, write_atomic
from deixis.scale.store import MissingObjectError, Store
from deixis.search.library.generation import Generation

FORMAT = 1
CURRENT, MANIFESTS, SHARDS, JOBS = "current", "manifests", "shards", "jobs"
FILES = ("header.json", "manifest.sqlite", "vectors.f32")  # of a generation
GRACE = 24 * 3600.0  # seconds for which a reader may still need what nothing names any more
T = TypeVar("T")
_HASH = re.compile(r"[0-9a-f]{32}")
_CELLS = re.compile(r"cells-[0-9A-Za-z_ -]{1,16}\.i8")


@dataclass(frozen=True, slots=True)
class Shard:
    """One generation: its name, how much is in it, and the hash of each of its files."""

    id: str
    pictures: int
    rows: int
    files: Mapping[str, str]  # name → hash of the content
    broken: tuple[tuple[str, str], ...] = ()  # pictures that could not be embedded, and why


@dataclass(frozen=True, slots=True)
class ShardedManifest:
    """All shards of a library, in the order in which their rows count."""

    model: str  # the identity that every shard's vectors have
    source: str  # what loads the model again
    dim: int
    shards: tuple[Shard, ...]
    format: int = FORMAT

    @property
    def pictures(self) -> int:
        """How many pictures can be found."""
        return sum(shard.pictures for shard in self.shards)

    def content(self) -> bytes:
        """The manifest as it is stored; equal manifests give equal bytes."""
        return (json.dumps(asdict(self), sort_keys=True, indent=1) + "\n").encode()

    @property
    def name(self) -> str:
        """The hash of the content, which names this state of the library."""
        return hash_of(self.content())


@dataclass(frozen=True)
class ShardedLibrary:
    """A sharded library in a store."""

    store: Store
    _seen: dict[str, str] = field(default_factory=dict)  # the tag of ``current``, as last read

    def current(self) -> str | None:
        """The name of the manifest that counts; None where there is no library yet."""
        try:
            content, tag = self.store.read_tagged(CURRENT)
        except MissingObjectError:
            self._seen.pop(CURRENT, None)
            return None
        self._seen[CURRENT] = tag
        name = content.decode(errors="replace").strip()
        if _HASH.fullmatch(name) is None:
            raise SearchError(
                f"{self.store.url}/{CURRENT} is damaged, it names no manifest; write the name of "
                f"one in {MANIFESTS}/ into it, or delete it and index again"
            )
        return name

    def manifest(self, name: str | None = None) -> ShardedManifest:
        """A manifest by its name, or the one that counts."""
        name = name or self.current()
        if name is None:
            raise SearchError(
                f"there is no library at {self.store.url}; make one with: deixis index PICTURES "
                f"--library {self.store.url}"
            )
        content = self.store.read(f"{MANIFESTS}/{name}.json")
        if hash_of(content) != name:
            raise SearchError(f"{self.store.url}: manifest {name} is damaged")
        return _read(content, _parsed, f"{self.store.url}: manifest {name}")

    def publish(self, manifest: ShardedManifest) -> None:
        """Make a manifest the current one, unless somebody else changed it since `current`."""
        self.store.create(f"{MANIFESTS}/{manifest.name}.json", manifest.content())
        content = f"{manifest.name}\n".encode()
        tag = self._seen.get(CURRENT)
        won = (
            self.store.create(CURRENT, content)
            if tag is None
            else self.store.swap(CURRENT, content, tag)
        )
        if not won:
            raise SearchError(
                f"another writer changed {self.store.url} meanwhile; index again: the finished "
                "shards are kept and only the missing ones are embedded"
            )

    def require(self, shards: Iterable[Shard]) -> None:
        """Refuse shards that somebody collected while others were still embedded."""
        there = {found.name.split("/")[1] for found in self.store.list(f"{SHARDS}/")}
        gone = [shard.id for shard in shards if shard.id not in there]
        if gone:
            raise SearchError(
                f"{len(gone)} finished shards were collected from {self.store.url} meanwhile; "
                "index again, and collect with more --hours than indexing takes"
            )

    def add_shard(self, folder: Path, shard: Shard) -> None:
        """Store the files of a finished generation."""
        for name in shard.files:
            self.store.write(f"{SHARDS}/{shard.id}/{name}", (folder / name).read_bytes())

    def fetch(self, shard: Shard, cache: Path) -> Path:
        """A shard as a folder on this machine's disk, copied once and checked."""
        folder = cache / shard.id
        if folder.is_dir():
            return folder
        cache.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(dir=cache, prefix=".fetching-"))
        try:
            for name, hash_ in shard.files.items():
                content = self.store.read(f"{SHARDS}/{shard.id}/{name}")
                if hash_of(content) != hash_:
                    raise SearchError(f"{self.store.url}: {name} of shard {shard.id} is damaged")
                write_atomic(building / name, content)
            os.replace(building, folder)
            sync(cache)
        except OSError:
            if not folder.is_dir():  # another process of this machine was first
                raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return folder

    def finished(self, key: str) -> Shard | None:
        """What the job with this key produced, if it was ever done and that is still legible."""
        return self._job(f"{JOBS}/{key}.json")

    def finish(self, key: str, shard: Shard) -> Shard:
        """Record a job's result; of two that did the same job the first one counts."""
        content = json.dumps(asdict(shard), sort_keys=True).encode()
        if self.store.create(f"{JOBS}/{key}.json", content):
            return shard
        known = self.finished(key)
        if known is None:  # what is there is damaged
            self.store.write(f"{JOBS}/{key}.json", content)
        return known or shard

    def collect(self, grace: float = GRACE) -> Iterator[str]:
        """Delete what the current manifest does not name and nobody can be using any more."""
        manifest = self.manifest()
        used = {shard.id for shard in manifest.shards}
        oldest = time.time() - grace
        for found in list(self.store.list()):
            room, _, rest = found.name.partition("/")
            unused = (
                (room == SHARDS and rest.partition("/")[0] not in used)
                or (room == MANIFESTS and rest != f"{manifest.name}.json")
                or (room == JOBS and not self._names_one_of(used, found.name))
            )
            if unused and found.modified < oldest:
                self.store.delete(found.name)
                yield found.name

    def _names_one_of(self, used: set[str], job: str) -> bool:
        shard = self._job(job)
        return shard is not None and shard.id in used

    def _job(self, name: str) -> Shard | None:
        try:
            content = self.store.read(name)
        except MissingObjectError:
            return None
        try:
            return _read(content, _shard, name)
        except SearchError:  # damaged: as good as never done
            return None


def hash_of(content: bytes) -> str:
    """The name that a content has."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def shard_of(folder: Path) -> Shard:
    """A finished generation on disk as a shard, named by the content of its files."""
    generation = Generation(folder)
    try:
        live, files = generation.manifest.live(), generation.manifest.files().values()
        broken = tuple((one.path, one.reason) for one in files if one.reason is not None)
        rows = generation.manifest.end()
        cells = generation.cells
    finally:
        generation.close()
    names = [*FILES, cells.path.name] if cells is not None and cells.path.exists() else FILES
    hashes = {name: hash_of((folder / name).read_bytes()) for name in names}
    return Shard(name_of(hashes), len(live), rows, hashes, tuple(sorted(broken)))


def name_of(files: Mapping[str, str]) -> str:
    """The name of a shard with these files, by the hashes of their contents."""
    return hash_of(json.dumps(sorted(files.items())).encode())


def _read(content: bytes, parse: Callable[[Any], T], what: str) -> T:
    """What a file of the library says, or why nobody can tell."""
    try:
        return parse(parse_json(content))
    except KeyError as error:
        raise SearchError(f"{what} cannot be read: it has no {error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise SearchError(f"{what} cannot be read: {error}") from error


def _shard(record: Any) -> Shard:
    """A shard as somebody wrote it down; its names become paths, so none may lead elsewhere."""
    files = dict(record["files"])
    for name, hash_ in files.items():
        if name not in FILES and _CELLS.fullmatch(name) is None:
            raise ValueError(f"a shard has no file '{name[:80]}'")
        if _HASH.fullmatch(hash_) is None:
            raise ValueError(f"'{hash_[:80]}' is not the hash of a content")
    if record["id"] != name_of(files):
        raise ValueError(f"'{str(record['id'])[:80]}' is not the name of the files it stands for")
    broken = tuple((str(name), str(reason)) for name, reason in record["broken"])
    return Shard(record["id"], int(record["pictures"]), int(record["rows"]), files, broken)


def _parsed(record: Any) -> ShardedManifest:
    if record["format"] != FORMAT:
        raise ValueError(
            f"its format is {record['format']}, this deixis reads {FORMAT}; "
            "index the pictures into a new place"
        )
    if not isinstance(record["model"], str) or not isinstance(record["source"], str):
        raise ValueError("it names no model")
    if not isinstance(record["dim"], int) or record["dim"] < 1:
        raise ValueError(f"its vectors have the length {record['dim']!r}")
    shards = tuple(_shard(shard) for shard in record["shards"])
    return ShardedManifest(record["model"], record["source"], record["dim"], shards)
