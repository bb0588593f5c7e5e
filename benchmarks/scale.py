"""A cluster of two nodes on this machine: embedding beside one process, fan-out, recovery."""

import os
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from examples.local_cluster import kill_worker, two_nodes
from PIL import Image

from benchmarks.harness import Figure, Timed
from deixis.scale.engine import Engine, LocalEngine
from deixis.scale.index_shards import index_shards
from deixis.scale.library_transfer import pull
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import open_store
from deixis.search.library.library import Library

PICTURES, PER_SHARD = 384, 32
CALLS = 60
PATIENCE = 20  # times a late part is asked again
GROUPS = (1, 2, 4)
SECONDS = 120.0  # that a killed part may take to come back
TINY = {"PICTURES": 12, "PER_SHARD": 4, "CALLS": 5, "GROUPS": (1, 2)}
TICKS = os.sysconf("SC_CLK_TCK")


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="dx-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        made = [draw(folder / part, PICTURES, seed) for seed, part in enumerate(("a", "b"))]
        with two_nodes() as cluster:
            return [
                *embedding_figures(made, folder, cluster),
                *fan_out_figures(folder, cluster),
                *recovery_figures(folder, cluster),
            ]


def embedding_figures(made: list[Path], folder: Path, cluster: Any) -> list[Figure]:
    """The first pictures warm both: encoders are loaded, workers are there."""
    from deixis.scale.ray_engine import RayEngine

    engines: dict[str, Engine] = {"alone": LocalEngine(), "cluster": RayEngine(cluster.address)}
    spent = {}
    for name, engine in engines.items():
        for pictures in made:
            library = folder / f"{name}-{pictures.name}"
            spent[name] = cpu_of(lambda: index(pictures, library, engine))  # noqa: B023
    alone, there = spent["alone"].seconds / PICTURES, spent["cluster"].seconds / PICTURES
    vectors = [
        [shard.files["vectors.f32"] for shard in manifest(folder / f"{name}-b").shards]
        for name in engines
    ]
    detail = f"{1000 * there:.1f} ms beside {1000 * alone:.1f} ms, all processes of the cluster"
    same = float(np.mean([a == b for a, b in zip(*vectors, strict=True)]))
    return [
        Figure(
            "embedding: CPU per picture beside one process",
            there / alone,
            1.2,
            "lower",
            "×",
            detail,
        ),
        Figure("embedding: shards equal bit by bit", 100 * same, 100, unit="%"),
    ]


def fan_out_figures(folder: Path, cluster: Any) -> list[Figure]:
    """What it costs to ask several processes instead of one; wall-clock time, little work."""
    from deixis.scale.serving.ray_serve import RayGroups

    pull(str(folder / "alone-b"), folder / "pulled")
    with Library(folder / "pulled") as library:
        library.search("a red wall")
        alone = wall_time(lambda: library.search("a red wall", k=20))
    found = [Figure("a search in one process", alone, None, unit="ms", detail="wall-clock, median")]
    state = ShardedLibrary(open_store(str(folder / "alone-b"))).current()
    for count in GROUPS:
        with served(folder, cluster, shards=count) as address, httpx.Client(timeout=60) as client:
            groups = RayGroups(count)
            empty = [(state, "0" * 32)] * count
            groups.ask("files_of", empty, 60.0)
            call = wall_time(lambda: groups.ask("files_of", empty, 60.0))  # noqa: B023
            search(client, address)
            whole = wall_time(lambda: search(client, address))  # noqa: B023
        detail = f"a whole search over HTTP {whole:.1f} ms; wall-clock, median of {CALLS}"
        found.append(Figure(f"an empty call to {count} groups", call, None, "lower", "ms", detail))
    return found


def recovery_figures(folder: Path, cluster: Any) -> list[Figure]:
    """A part is killed: until answers are whole again, and the slowest answer meanwhile."""
    found = []
    for copies in (1, 2):
        with (
            served(folder, cluster, shards=2, copies=copies) as address,
            httpx.Client(timeout=60) as client,
        ):
            search(client, address)
            assert kill_worker(cluster, "ServeReplica:deixis:shards-0")
            slowest, partial, whole = watched(client, address, copies)
        detail = f"slowest answer {slowest:.1f} s, {partial} of them partial"
        name = f"recovery: a part of {copies} {'copies' if copies > 1 else 'copy'} killed"
        found.append(Figure(name, max(whole, slowest), None, "lower", "s", detail))
    return found


def watched(client: httpx.Client, address: str, copies: int) -> tuple[float, int, float]:
    """Ask until ten answers in a row are whole: slowest, how many partial, when whole again."""
    begun = back = time.monotonic()
    slowest, partial, row = 0.0, 0, 0
    while row < 10 or (copies == 1 and not partial and time.monotonic() - begun < 30):
        assert time.monotonic() - begun < SECONDS, "the part did not come back"
        asked = time.monotonic()
        answer = search(client, address)
        slowest = max(slowest, time.monotonic() - asked)
        partial, row = partial + answer["partial"], 0 if answer["partial"] else row + 1
        back = time.monotonic() if answer["partial"] else back
    return slowest, partial, back - begun


@contextmanager
def served(folder: Path, cluster: Any, **how: int) -> Iterator[str]:
    from deixis.scale.serving.ray_serve import ClusterServing, start, stop

    library = str(folder / "alone-b")
    try:
        yield start(ClusterServing(library, cluster.address, port=free_port(), cpus=0.2, **how))
    finally:
        stop()


@cache
def free_port() -> int:
    """One for all: Ray Serve listens where it first did for as long as the cluster runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def search(client: httpx.Client, address: str) -> dict[str, Any]:
    """An answer; on a busy machine a part may be late, and the server says so by a 503."""
    for _ in range(PATIENCE):
        answer = client.get(f"{address}/v1/search", params={"text": "a red wall", "k": 20})
        if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
            break
    answer.raise_for_status()
    return dict(answer.json())


def wall_time(work: Callable[[], Any]) -> float:
    """The median of milliseconds on the clock: what a caller waits."""
    taken = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - begun))
    return statistics.median(taken)


def cpu_of(work: Callable[[], Any]) -> Timed:
    """CPU seconds of this process and of all that come from it: a whole cluster on one machine."""
    before = spent()
    result = work()
    return Timed(result, spent() - before)


def spent() -> float:
    """CPU seconds of all processes below this one that live, and of it."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        found[int(stat.parent.name)] = (int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS)
    own = {os.getpid()}
    while more := {pid for pid, (parent, _) in found.items() if parent in own} - own:
        own |= more
    return sum(found[pid][1] for pid in own)


def index(pictures: Path, library: Path, engine: Engine) -> None:
    index_shards(str(pictures), str(library), engine, per_shard=PER_SHARD)


def manifest(library: Path) -> Any:
    return ShardedLibrary(open_store(str(library))).manifest()


def draw(folder: Path, count: int, seed: int) -> Path:
    """Photographs' size and weight: smooth noise, 640 × 480, JPEG."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    for number in range(count):
        small = random.integers(0, 256, (30, 40, 3)).astype(np.uint8)
        large = Image.fromarray(small).resize((640, 480), Image.Resampling.BICUBIC)
        large.save(folder / f"{number:05}.jpg", quality=90)
    return folder
