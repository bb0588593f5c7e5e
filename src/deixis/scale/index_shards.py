"""Index pictures into a sharded library: list, plan, embed what is missing, publish."""

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from deixis.data.formats.imagefolder_metadata import NAMES
from deixis.errors import SearchError
from deixis.features.backbones.hub_access import allow_hub
from deixis.features.store.picture_formats import PICTURE_TYPES
from deixis.scale.encode_shard import ShardJob, encode_shard
from deixis.scale.engine import Engine
from deixis.scale.plan import PER_SHARD, Picture, ShardPlan, plan_shards
from deixis.scale.sharded_library import Shard, ShardedLibrary, ShardedManifest
from deixis.scale.store import Store, open_store
from deixis.search.encoders.load_encoder import PHOTOS, load_encoder
from deixis.search.library.library_status import LibraryProblem
from deixis.search.library.pictures.folder_scan import LARGEST, too_large

OnShard = Callable[[int, int, int], None]  # pictures done, of how many, and times begun again


def silent(done: int, total: int, repeated: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class ShardedIndexReport:
    """What an indexing of a sharded library did."""

    library: str
    manifest: str  # the state of the library that counts now
    pictures: int  # that can be found
    shards: int
    embedded: int  # shards embedded now; the others were there already
    repeated: int  # times a shard was begun again because a worker or a machine was lost
    broken: Mapping[str, str]  # picture → why it has no vector

    @property
    def problems(self) -> tuple[LibraryProblem, ...]:
        """Pictures that have no vectors, each with its reason."""
        return broken_pictures(self.broken)

    @property
    def summary(self) -> str:
        """One line for people."""
        again = f", {self.repeated} begun again" if self.repeated else ""
        return (
            f"{self.pictures} pictures in {self.shards} shards; "
            f"{self.embedded} shards embedded{again}"
        )

    @property
    def needs_attention(self) -> bool:
        """Whether there were pictures and not one of them is usable."""
        return bool(self.broken) and not self.pictures

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def broken_pictures(broken: Mapping[str, str]) -> tuple[LibraryProblem, ...]:
    """Pictures without vectors as problems of a library."""
    return tuple(LibraryProblem(path, "broken", reason) for path, reason in broken.items())


def index_shards(
    pictures: str,
    library: str,
    engine: Engine,
    model: str | None = None,
    per_shard: int = PER_SHARD,
    on_shard: OnShard = silent,
) -> ShardedIndexReport:
    """Bring a sharded library in line with the pictures below an address.

    Shards that were embedded before, here or in a run that was killed, are not embedded again.
    """
    sharded = ShardedLibrary(open_store(library))
    current = sharded.current()
    known = None if current is None else sharded.manifest(current)
    if model:
        allow_hub(model)
    encoder = load_encoder(model or (PHOTOS if known is None else known.source))
    places = "" if encoder.places is None else encoder.places.identity
    planned, refused = _planned(open_store(pictures), encoder.identity, per_shard)
    plans = [replace(plan, places=places) for plan in planned]
    job = partial(ShardJob, pictures, library, encoder.source)
    finished = {place: sharded.finished(plan.key) for place, plan in enumerate(plans)}
    missing = [place for place, shard in finished.items() if shard is None]
    total = sum(len(plan.pictures) for plan in plans)
    done = total - sum(len(plans[place].pictures) for place in missing)
    repeated = 0
    on_shard(done, total, repeated)
    for one in engine.run(encode_shard, [job(plans[place]) for place in missing]):
        finished[missing[one.place]] = one.result
        done += len(plans[missing[one.place]].pictures)
        repeated += one.attempts - 1
        on_shard(done, total, repeated)
    shards = tuple(finished[place] or _lost() for place in range(len(plans)))
    manifest = ShardedManifest(encoder.identity, encoder.source, encoder.dim, shards)
    if manifest.name != current:
        sharded.require(shards)
        sharded.publish(manifest)
    return _report(library, manifest, (len(missing), repeated), refused)


def _planned(store: Store, model: str, per_shard: int) -> tuple[list[ShardPlan], Mapping[str, str]]:
    """The work there is, and what was found that nobody can read, with the reason."""
    pictures: list[Picture] = []
    sidecars: list[Picture] = []
    refused: dict[str, str] = {}

    def refuse(name: str, reason: str) -> None:
        if _is_picture(name) or reason.startswith("folder"):
            refused[_shown(f"{store.url}/{name}")] = reason

    for found in store.list(on_refused=refuse):
        listed = Picture(found.name, found.size, found.tag, found.modified)
        if not _is_picture(found.name) and posixpath.basename(found.name) not in NAMES:
            continue
        if _shown(found.name) != found.name:
            refused[_shown(f"{store.url}/{found.name}")] = "its name is not UTF-8; rename it"
        elif _is_picture(found.name) and found.size > LARGEST:
            refused[f"{store.url}/{found.name}"] = too_large(found.size)
        else:
            (pictures if _is_picture(found.name) else sidecars).append(listed)
    if not pictures:
        why = "".join(f"; {name}: {reason}" for name, reason in list(refused.items())[:1])
        raise SearchError(f"there are no pictures below {store.url}{why}")
    return plan_shards(pictures, model, per_shard, sidecars), refused


def _shown(name: str) -> str:
    """A name as text that can be stored, even if it is none."""
    return name.encode(errors="backslashreplace").decode()


def _is_picture(name: str) -> bool:
    return posixpath.splitext(name)[1].lower() in PICTURE_TYPES


def _lost() -> Shard:
    raise SearchError("the cluster did not report every shard; the same command goes on from here")


def _report(
    library: str,
    manifest: ShardedManifest,
    work: tuple[int, int],
    refused: Mapping[str, str],
) -> ShardedIndexReport:
    broken = {name: why for shard in manifest.shards for name, why in shard.broken}
    return ShardedIndexReport(
        library,
        manifest.name,
        manifest.pictures,
        len(manifest.shards),
        *work,
        {**broken, **refused},
    )
