"""Index, look at and serve a library, whether it lies in a folder here or in a bucket."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deixis.errors import DeixisError, SearchError
from deixis.extras import need
from deixis.runs.advance import Advance, silent
from deixis.scale.engine import engine_at
from deixis.scale.index_shards import ShardedIndexReport, broken_pictures, index_shards
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import open_store
from deixis.search.library.indexing import IndexingReport
from deixis.search.library.library import Library
from deixis.search.library.library_status import LibraryProblem, LibraryStatus
from deixis.serve.start import ServeOptions, run


@dataclass(frozen=True, slots=True)
class RemoteStatus:
    """What a sharded library holds."""

    library: str
    state: str
    pictures: int
    shards: int
    model: str
    source: str
    broken: dict[str, str]

    @property
    def problems(self) -> tuple[LibraryProblem, ...]:
        """Pictures that have no vectors."""
        return broken_pictures(self.broken)

    @property
    def summary(self) -> str:
        """One line for people."""
        return (
            f"{self.library}: {self.pictures} pictures in {self.shards} shards; "
            f"state {self.state[:12]}; model {self.source}"
        )

    @property
    def needs_attention(self) -> bool:
        """Whether some pictures have no vectors."""
        return bool(self.broken)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OnCluster:
    """Which Ray cluster serves a library of shards, in how many parts and copies."""

    cluster: str | None = None
    shards: int = 1
    copies: int = 1


def is_remote(*places: str) -> bool:
    """Whether one of some places is a bucket."""
    return any(place.startswith("s3://") for place in places)


def index_pictures(
    pictures: Sequence[str],
    library: str,
    model: str | None = None,
    *,
    rebuild: bool = False,
    cluster: str | None = None,
    advance: Advance = silent,
    on_note: Callable[[str], None] = print,
) -> IndexingReport | ShardedIndexReport:
    """Bring a library in line with pictures; in a bucket or on a cluster it is one of shards."""
    if cluster is None and not is_remote(library, *pictures):
        return Library(library, model).add(
            *pictures,
            rebuild=rebuild,
            on_file=lambda outcome, done, total: advance("indexing", done, total),
        )
    if len(pictures) != 1:
        raise SearchError(
            f"a sharded library is indexed from one folder or bucket; {len(pictures)} were given"
        )
    engine = engine_at(cluster, lambda job, why: on_note(f"shard {job} begun again: {why}"))
    return index_shards(
        pictures[0],
        library,
        engine,
        model,
        on_shard=lambda done, total, repeated: advance("indexing", done, total),
    )


def follow_pictures(
    pictures: Sequence[str],
    library: str,
    model: str | None = None,
    *,
    cluster: str | None = None,
    on_pass: Callable[[IndexingReport], None],
    on_error: Callable[[DeixisError], None],
) -> None:
    """Bring a library in line with folders of this machine now and whenever they change."""
    if cluster is not None or is_remote(library, *pictures):
        raise SearchError("only folders of this machine can be followed; index a bucket again")
    Library(library, model).follow(*pictures, on_pass=on_pass, on_error=on_error)


def library_status(library: str) -> LibraryStatus | RemoteStatus:
    """Compare a library with the disk, or read the manifest of a sharded one."""
    if not is_remote(library):
        return Library(library).status()
    manifest = ShardedLibrary(open_store(library)).manifest()
    return RemoteStatus(
        library,
        manifest.name,
        manifest.pictures,
        len(manifest.shards),
        manifest.model,
        manifest.source,
        {name: reason for shard in manifest.shards for name, reason in shard.broken},
    )


def serve_library(
    library: str, how: ServeOptions, where: OnCluster, on_start: Callable[[str], None]
) -> None:
    """Serve a library until interrupted, from this machine or from a cluster."""
    if where.cluster is None and not is_remote(library):
        run(Path(library), how, on_start)
        return
    if where.cluster is None:
        raise SearchError(
            f"{library} is a library of shards: serve it with --cluster HOST:PORT, or copy "
            f"it here with `deixis pull {library} FOLDER` and serve the folder"
        )
    if how.watch:
        raise SearchError("only folders of this machine can be followed; serve without --watch")
    need("ray", "cluster")
    from deixis.scale.serving.ray_serve import (  # brings Ray
        ClusterServing,
        start,
        stop,
    )

    here = {"watch", "adding"}  # what only a library in a folder does
    options = {name: value for name, value in asdict(how).items() if name not in here}
    on_start(start(ClusterServing(library=library, **asdict(where), **options)))
    try:
        threading.Event().wait()
    finally:
        stop()
