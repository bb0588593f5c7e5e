"""A cluster, on one machine: two Ray nodes, an S3 server, and a part that is killed.

    python -m examples.cluster_demo

Draws simulated scenes into a bucket, indexes them there on the cluster, serves them from two
parts, kills one of them, and asks on.
"""

import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from examples.local_cluster import kill_worker, two_nodes, workers
from examples.local_s3 import make_bucket, s3_server

from deixis.data.simulated.scenes.write_scenes import write_scenes
from deixis.scale.index_shards import index_shards
from deixis.scale.ray_engine import RayEngine
from deixis.scale.serving.ray_serve import ClusterServing, start, stop
from deixis.scale.store import open_store

BUCKET = "demo"
QUERY = "a red ball next to a tree"
SECONDS = 120.0  # that a killed part may take to come back


def main(images: int = 160, per_shard: int = 20) -> list[dict[str, Any]]:
    """Run it all; returns the answers before, during and after the loss of a part."""
    with tempfile.TemporaryDirectory(prefix="dx-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        say("an S3 server and two Ray nodes on 127.0.0.1 …")
        with s3_server(folder / "s3") as environment:
            os.environ.update(environment)
            make_bucket(environment, BUCKET)
            upload(write_scenes(folder / "scenes", images=images), f"s3://{BUCKET}/scenes")
            with two_nodes() as cluster:
                index(cluster.address, per_shard)
                return serve(cluster)


def upload(scenes: Path, url: str) -> None:
    """Put the drawn scenes into the bucket, where nodes read them from."""
    store = open_store(url)
    pictures = sorted(scenes.rglob("*.png")) + sorted(scenes.rglob("*.jpg"))
    for path in pictures:
        store.write(path.relative_to(scenes).as_posix(), path.read_bytes())
    say(f"{len(pictures)} simulated scenes in {url}")


def index(address: str, per_shard: int) -> None:
    """What `deixis index s3://… --library s3://… --cluster …` does, with small shards."""
    source, library = f"s3://{BUCKET}/scenes", f"s3://{BUCKET}/library"
    begun = time.monotonic()
    report = index_shards(source, library, RayEngine(address), per_shard=per_shard)
    took = time.monotonic() - begun
    say(f"{report.pictures} pictures in {report.shards} shards in {library}, {took:.0f} s")


def serve(cluster: Any) -> list[dict[str, Any]]:
    """What `deixis serve --library s3://… --cluster … --shards 2` does, and a part that dies."""
    library = f"s3://{BUCKET}/library"
    address = start(ClusterServing(library, cluster.address, 2, port=free_port(), cpus=0.2))
    try:
        whole = wait_until(address, partial=False)
        say(f"served from two parts at {address}\n  {best(whole)}")
        with part_kept_down(cluster, 1):
            say("killed the process of one part")
            less = wait_until(address, partial=True)
        say(f"answered by what is left\n  {best(less)}")
        begun = time.monotonic()
        again = wait_until(address, partial=False)
        say(f"whole again after {time.monotonic() - begun:.1f} s\n  {best(again)}")
        assert again["hits"] == whole["hits"]
        return [whole, less, again]
    finally:
        stop()


@contextmanager
def part_kept_down(cluster: Any, number: int) -> Iterator[None]:
    """Kill the process of a part, and whatever Ray starts in its place until this is left.

    One that is killed once may be back before a request gives it up: then no answer lacks it.
    """
    title, left = f"ServeReplica:deixis:shards-{number}", threading.Event()
    assert workers(cluster, title), "the part does not run"

    def kill() -> None:
        while not left.wait(0.1):
            with suppress(ProcessLookupError):  # it has just ended
                kill_worker(cluster, title)

    kill_worker(cluster, title)
    killing = threading.Thread(target=kill)
    killing.start()
    try:
        yield
    finally:
        left.set()
        killing.join()


def wait_until(address: str, *, partial: bool) -> dict[str, Any]:
    """Ask until an answer is partial, or is whole again; every answer must be one."""
    until = time.monotonic() + SECONDS
    while (found := ask(address))["partial"] != partial:
        assert time.monotonic() < until, "the cluster did not change in time"
    return found


def ask(address: str) -> dict[str, Any]:
    """One search over HTTP."""
    answer = httpx.get(f"{address}/v1/search", params={"text": QUERY, "k": 5}, timeout=60)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def best(answer: dict[str, Any]) -> str:
    """The first hit and how much was searched, for people."""
    searched, hit = answer["searched"], answer["hits"][0]
    return f"“{QUERY}”: {hit['paths'][0]}; searched {searched['rows']} of {searched['of']}"


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def say(line: str) -> None:
    """Print at once."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
