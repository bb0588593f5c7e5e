"""A sharded library served by a Ray cluster: groups of shards in copies, behind the same app.

Ray Serve keeps the copies alive, checks their health and routes requests; vectors travel between
its processes as objects. A new state of the library is opened on demand, request by request, so
nothing is deployed again.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import serve

from deixis.errors import SearchError
from deixis.paths import cache_folder
from deixis.scale.ray_engine import connect
from deixis.scale.serving.cluster_library import ClusterLibrary
from deixis.scale.serving.shard_group import ShardGroup
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import open_store
from deixis.search.query.library_candidates import Engine
from deixis.search.query.server_client import is_loopback
from deixis.serve.limits.access_token import checked_token

NAME = "deixis"
READY = 300.0  # seconds until every copy of every group must be up
WORK = frozenset({"facts", "best", "scores_at", "score_of", "above", "files_of"})

log = logging.getLogger("deixis.scale")


@dataclass(frozen=True, slots=True)
class ClusterServing:
    """How a sharded library is served."""

    library: str  # address of the sharded library
    cluster: str  # HOST:PORT of the Ray cluster
    shards: int = 1  # groups the library's shards are divided among
    copies: int = 1  # of each group and of the app before them
    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = field(default=None, repr=False)  # Ray writes down what it is given
    engine: Engine = "exact"
    cpus: float = 0.5  # that each copy reserves


def start(how: ClusterServing) -> str:
    """Deploy a library on a cluster and return the address that answers for it."""
    _require_closed(how)
    if min(how.shards, how.copies) < 1:
        raise SearchError(f"{how.shards} shards in {how.copies} copies; give at least one of each")
    ShardedLibrary(open_store(how.library)).manifest()  # refuse a place without a library here
    connect(how.cluster)
    _require_room(how)
    serve.start(_location(), http_options={"host": how.host, "port": how.port})
    try:
        serve.run(_application(how), name=NAME, route_prefix="/")
        _wait_until_running()
    except BaseException:  # also when it is interrupted: nobody would stop it later
        stop()
        raise
    return f"http://{how.host}:{how.port}"


def stop() -> None:
    """Take the library off the cluster."""
    serve.delete(NAME)


class GroupServer:
    """One copy of one group of shards."""

    def __init__(self, how: ClusterServing, number: int) -> None:
        cache = cache_folder() / "shards"
        self._group = ShardGroup(how.library, number, how.shards, cache, how.engine)
        # Ray Serve would take any thread for a request, but SQLite's handles belong to one; copies
        # of a new state are made in another, so that nobody waits for them.
        self._answering, self._copying = ThreadPoolExecutor(1), ThreadPoolExecutor(1)

    async def ask(self, work: str, arguments: tuple[Any, ...]) -> Any:
        """Do one of the works that the app asks of a group."""
        if work not in WORK:
            raise SearchError(f"a group of shards does not do '{work}'")
        loop = asyncio.get_running_loop()
        if not self._group.has_open(arguments[0]):
            await loop.run_in_executor(self._copying, self._group.copy, arguments[0])
        return await loop.run_in_executor(
            self._answering, lambda: getattr(self._group, work)(*arguments)
        )


@dataclass(frozen=True)
class RayGroups:
    """All groups, asked at once through Ray Serve's handles."""

    count: int

    def __len__(self) -> int:
        return self.count

    def ask(self, work: str, arguments: Sequence[tuple[Any, ...]], seconds: float) -> list[Any]:
        """What each group answers; None from one that did not answer in time."""
        asked = [
            serve.get_deployment_handle(_group(number), NAME).ask.remote(work, given)
            for number, given in enumerate(arguments)
        ]
        until = time.monotonic() + seconds
        return [_answer(one, number, until) for number, one in enumerate(asked)]


def _answer(asked: Any, number: int, until: float) -> Any:
    try:
        return asked.result(timeout_s=max(0.05, until - time.monotonic()))
    except Exception as error:  # a dead node, a timeout, a damaged shard: the others still answer
        log.warning("group %d of the library did not answer: %s", number, error)
        return None


def _application(how: ClusterServing) -> Any:
    options: dict[str, Any] = {
        "num_replicas": how.copies,
        "ray_actor_options": {"num_cpus": how.cpus},
        "max_replicas_per_node": _per_node(how.copies),
        "health_check_period_s": 2.0,
        "health_check_timeout_s": 10.0,
        "graceful_shutdown_timeout_s": 5.0,
    }
    group: Any = serve.deployment(GroupServer)
    groups = [
        group.options(name=_group(number), **options).bind(how, number)
        for number in range(how.shards)
    ]
    app: Any = serve.deployment(serve.ingress()(AppServer))
    return app.options(name="app", **options).bind(how, *groups)


class AppServer:
    """One copy of the app; the groups are bound to it so that one application holds them all."""

    def __init__(self, how: ClusterServing, *groups: Any) -> None:
        self._how = how

    def __serve_build_asgi_app__(self) -> Any:
        """Ray Serve calls this in the copy itself: an app cannot travel."""
        from deixis.serve.app import create_app  # built where it runs

        how = self._how
        return create_app(ClusterLibrary(how.library, RayGroups(how.shards)), how.token)


def _group(number: int) -> str:
    return f"shards-{number}"


def _nodes() -> list[dict[str, Any]]:
    return [node for node in ray.nodes() if node["Alive"]]


def _per_node(copies: int) -> int:
    """Copies apart from each other as far as there are nodes."""
    return -(-copies // max(1, len(_nodes())))


def _location() -> str:
    """A proxy on every machine; several nodes of one machine would fight for the port."""
    addresses = [node["NodeManagerAddress"] for node in _nodes()]
    return "EveryNode" if len(set(addresses)) == len(addresses) else "HeadOnly"


def _require_closed(how: ClusterServing) -> None:
    """Refuse what other machines could ask without a token, as on one machine."""
    if not 1 <= how.port <= 65535:
        raise SearchError(
            f"the port is {how.port}; all nodes of a cluster listen on one: give it, 1 to 65535"
        )
    if checked_token(how.token) is None and not is_loopback(how.host):
        raise SearchError(
            f"'{how.host}' can be reached by other machines; give a --token (or DEIXIS_TOKEN) that "
            "callers must show, or listen on 127.0.0.1"
        )


def _require_room(how: ClusterServing) -> None:
    needed = (how.shards + 1) * how.copies * how.cpus
    there = sum(node["Resources"].get("CPU", 0.0) for node in _nodes())
    if needed > there:
        raise SearchError(
            f"{how.shards} shards in {how.copies} copies need {needed:g} processors, the cluster "
            f"has {there:g}; give fewer shards or copies, or add nodes"
        )


def _wait_until_running() -> None:
    until = time.monotonic() + READY
    while time.monotonic() < until:
        found = serve.status().applications.get(NAME)
        if found is not None and found.status == "RUNNING":
            return
        if found is not None and found.status == "DEPLOY_FAILED":
            raise SearchError(f"the cluster could not serve the library: {found.message}")
        time.sleep(0.2)
    raise SearchError(f"the library was not up after {READY:g} seconds; see `serve status`")
