"""Between a library in one folder and a sharded one in a store."""

import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deixis.errors import SearchError
from deixis.files import make_folder, sync, write_atomic
from deixis.scale.sharded_library import FILES, Shard, ShardedLibrary, ShardedManifest, shard_of
from deixis.scale.store import open_store
from deixis.search.library.generation import Generation, GenerationHeader
from deixis.search.library.library_store import LibraryStore, stored_cells

OnShard = Callable[[int, int], None]  # shards done, of how many


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What was copied, and where it is now."""

    library: str
    pictures: int
    shards: int


def silent(done: int, total: int) -> None:
    """Show no progress."""


def pull(url: str, folder: Path, on_shard: OnShard = silent) -> TransferReport:
    """Copy a sharded library into a folder that `deixis search` and `deixis serve` open."""
    if folder.exists() and any(folder.iterdir()):
        raise SearchError(f"'{folder}' is not empty; pull into a new folder")
    sharded = ShardedLibrary(open_store(url))
    manifest = sharded.manifest()
    pictures = join_shards(sharded, manifest, manifest.shards, folder, on_shard)
    return TransferReport(str(folder), pictures, len(manifest.shards))


def collect(url: str, hours: float) -> list[str]:
    """Delete what a sharded library no longer names and what is older; the names of the deleted."""
    return list(ShardedLibrary(open_store(url)).collect(3600 * hours))


def push(folder: Path, url: str) -> TransferReport:
    """Copy a library's current generation into a store, as one shard; what was there is replaced.

    Pictures keep the paths they were indexed by, so only machines that see those show them.
    """
    sharded = ShardedLibrary(open_store(url))
    sharded.current()
    with LibraryStore(folder) as library, tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "generation"
        with library.generation.manifest.writing():  # nobody writes while it is copied
            _copy(library.generation, copy)
        shard = shard_of(copy)
        sharded.add_shard(copy, shard)
        header = library.header
    sharded.publish(ShardedManifest(header.model, header.source, header.dim, (shard,)))
    return TransferReport(url, shard.pictures, 1)


def join_shards(
    sharded: ShardedLibrary,
    manifest: ShardedManifest,
    shards: Sequence[Shard],
    folder: Path,
    on_shard: OnShard = silent,
) -> int:
    """Make one library of some shards, rows in their order; returns how many pictures it has.

    The folder appears whole or not at all.
    """
    # Not by tempfile, whose folders nobody but the user may enter.
    building = folder.parent / f".joining-{secrets.token_hex(8)}"
    make_folder(building)
    try:
        header = GenerationHeader(manifest.model, manifest.source, manifest.dim)
        whole = Generation.create(building / "generation-1", header)
        for done, shard in enumerate(shards):
            copy = sharded.fetch(shard, building / "shards")
            part = Generation(copy)
            _add(part, whole)
            part.close()
            if copy.parent == building / "shards":  # whatever a shard is called
                shutil.rmtree(copy)
            on_shard(done + 1, len(shards))
        pictures = len(whole.manifest.live())
        whole.close()
        shutil.rmtree(building / "shards", ignore_errors=True)
        write_atomic(building / "current", b"generation-1\n")
        _move(building, folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return pictures


def _move(building: Path, folder: Path) -> None:
    try:
        building.rename(folder)  # also over an empty folder
        sync(folder.parent)
    except OSError:
        if not (folder / "current").is_file():  # another process of this machine was first
            raise


def _add(part: Generation, whole: Generation) -> None:
    """Give one generation what another holds; a content both have keeps its first row."""
    vectors, known = part.vectors(), whole.manifest.contents()
    fresh = {c.hash: vectors[c.row : c.end] for c in part.manifest.live() if c.hash not in known}
    if part.header.places:
        whole.point_by(part.header.places, part.header.cell_dim)
    cells = stored_cells(part, fresh)
    whole.write(fresh, list(part.manifest.files().values()), [], cells=cells)
    with whole.manifest.writing():
        whole.manifest.add_roots(part.manifest.roots())
        part.manifest.facts.copy_to(whole.manifest.facts)


def _copy(generation: Generation, folder: Path) -> None:
    """The live part of a generation as files of its own."""
    copy = Generation.create(folder, generation.header)
    vectors = generation.vectors()
    live = {c.hash: vectors[c.row : c.end] for c in generation.manifest.live()}
    cells = stored_cells(generation, live)
    copy.write(live, list(generation.manifest.files().values()), [], cells=cells)
    with copy.manifest.writing():
        copy.manifest.add_roots(generation.manifest.roots())
        generation.manifest.facts.copy_to(copy.manifest.facts)
    copy.close()
    assert all((folder / name).is_file() for name in FILES)
