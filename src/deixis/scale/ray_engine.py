"""Jobs on a Ray cluster: one task per job, a bounded window, lost tasks begun again."""

import logging
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import ray
from ray.exceptions import (
    NodeDiedError,
    ObjectLostError,
    RayTaskError,
    TaskCancelledError,
    WorkerCrashedError,
)

from deixis import __version__
from deixis.errors import DeixisError, SearchError
from deixis.scale.engine import Finished, OnBlock, OnLost, silent

J = TypeVar("J")
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
P = TypeVar("P")
Q = TypeVar("Q")

LOST = (WorkerCrashedError, NodeDiedError, ObjectLostError, TaskCancelledError)
ATTEMPTS = 4  # times a job is begun before the run gives up
CONNECT = 5.0  # seconds until an address counts as unused
POLL = 1.0  # seconds between checks for tasks that may have taken too long


def _ignore(place: int, reason: str) -> None:
    """Show nothing."""


@dataclass
class _Task:
    """A job that was handed to the cluster."""

    place: int
    attempts: int
    begun: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class RayEngine:
    """Runs jobs as tasks of an existing cluster; Ray decides where."""

    address: str
    cpus: float = 1.0  # that each task reserves
    seconds: float = 3600.0  # after which a task counts as lost
    per_cpu: int = 2  # tasks handed over per processor, so that none waits for the next
    on_lost: OnLost = _ignore

    def run(
        self, function: Callable[[J], R], jobs: Sequence[J], ordered: bool = False
    ) -> Iterator[Finished[R]]:
        """Yield results as they finish; a job whose worker or node died is begun again."""
        connect(self.address)
        window = self._window()
        finished = self._run(function, jobs, window, ordered)
        if not ordered:
            yield from finished
            return
        early: dict[int, Finished[R]] = {}
        place = 0
        for one in finished:
            early[one.place] = one
            while place in early:
                yield early.pop(place)
                place += 1

    def _run(
        self, function: Callable[[J], R], jobs: Sequence[J], window: int, ordered: bool
    ) -> Iterator[Finished[R]]:
        task: Any = ray.remote(function).options(
            num_cpus=self.cpus, max_retries=0, scheduling_strategy="SPREAD"
        )
        waiting = deque(_Task(place, 0) for place in range(len(jobs)))
        running: dict[Any, _Task] = {}
        try:
            while waiting or running:
                # In order, none is begun a window ahead of one that is still to come.
                oldest = min((one.place for one in running.values()), default=len(jobs))
                ahead = min(oldest, waiting[0].place if waiting else oldest) + 2 * window
                while waiting and len(running) < window:
                    if ordered and waiting[0].place >= ahead:
                        break
                    next_ = waiting.popleft()
                    running[task.remote(jobs[next_.place])] = _Task(next_.place, next_.attempts + 1)
                done, _ = ray.wait(list(running), num_returns=1, timeout=POLL)
                for reference in done:
                    yield from self._settle(reference, running.pop(reference), waiting)
                self._cancel_late(running)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def cross(
        self,
        function: Callable[[A, B], tuple[P, Q]],
        sides: tuple[Sequence[A], Sequence[B]],
        merges: tuple[Callable[[Sequence[P]], Any], Callable[[Sequence[Q]], Any]],
        on_block: OnBlock = silent,
    ) -> tuple[Iterator[Any], Iterator[Any]]:
        """Blocks and merges as tasks; Ray computes again what a dead worker or node held."""
        connect(self.address)
        window = self._window()
        options: dict[str, Any] = {"num_cpus": self.cpus, "max_retries": ATTEMPTS}
        task: Any = ray.remote(_met).options(num_returns=2, scheduling_strategy="SPREAD", **options)
        shared = ray.put(function)
        rows, columns = ([ray.put(one) for one in side] for side in sides)
        merging: Any = ray.remote(_merged).options(**options)
        blocks = _Blocks(self.on_lost, on_block, window, len(rows) * len(columns))
        met: list[list[Any]] = []
        of_rows = []
        for row in rows:
            met.append([blocks.begin(task, shared, row, column) for column in columns])
            of_rows.append(merging.remote(merges[0], *(part for part, _ in met[-1])))
        of_columns = [
            merging.remote(merges[1], *(row[place][1] for row in met))
            for place in range(len(columns))
        ]
        blocks.wait_for_all()
        return map(_result, of_rows), map(_result, of_columns)

    def _window(self) -> int:
        """How many tasks are handed over at once."""
        return max(1, int(_fitting_cpus(self.cpus) / self.cpus) * self.per_cpu)

    def _settle(
        self, reference: Any, finished: _Task, waiting: "deque[_Task]"
    ) -> Iterator[Finished[Any]]:
        """The result of a task; one that was lost goes back in line."""
        try:
            yield Finished(finished.place, ray.get(reference), finished.attempts)
        except LOST as error:
            reason = type(error).__name__
            self.on_lost(finished.place, reason)
            if finished.attempts >= ATTEMPTS:
                raise SearchError(
                    f"job {finished.place} was lost {finished.attempts} times, last by {reason}; "
                    "the finished ones are kept, and the same command goes on from there"
                ) from error
            waiting.appendleft(finished)
        except RayTaskError as error:
            raise _own(error) from error

    def _cancel_late(self, running: dict[Any, _Task]) -> None:
        now = time.monotonic()
        for reference, task in running.items():
            if now - task.begun > self.seconds:
                ray.cancel(reference, force=True)


class _Blocks:
    """Hands blocks over, a window of them at a time, and reports nodes that die."""

    def __init__(self, on_lost: OnLost, on_block: OnBlock, window: int, total: int) -> None:
        self._on_lost, self._on_block = on_lost, on_block
        self._window, self._total = window, total
        self._running: list[Any] = []
        self._done = 0
        self._alive = _alive()

    def begin(self, task: Any, *given: Any) -> Any:
        """Hand over a block as soon as there is room for it; what it will leave."""
        while len(self._running) >= self._window:
            self._wait()
        parts = task.remote(*given)
        self._running.append(parts[0])
        return parts

    def wait_for_all(self) -> None:
        """Wait until all blocks are done, without fetching them."""
        while self._running:
            self._wait()

    def _wait(self) -> None:
        # A block counts when it is done; Ray may have to do it again for a merge.
        done, self._running = ray.wait(self._running, timeout=POLL, fetch_local=False)
        self._done += len(done)
        for name in self._alive - (alive := _alive()):
            self._on_lost(self._done, f"node {name} died")
        self._alive = alive
        if done:
            self._on_block(self._done, self._total)


def _met(function: Callable[[A, B], tuple[P, Q]], row: A, column: B) -> tuple[P, Q]:
    return function(row, column)


def _merged(merge: Callable[[Sequence[P]], Any], *parts: P) -> Any:
    return merge(parts)


def _result(reference: Any) -> Any:
    try:
        return ray.get(reference)
    except LOST as error:
        raise SearchError(f"a part of the work was lost for good: {error}") from error
    except RayTaskError as error:
        raise _own(error) from error


def _own(error: RayTaskError) -> DeixisError:
    """What a task refused in its own words, or that it failed."""
    cause = error.cause
    return cause if isinstance(cause, DeixisError) else SearchError(f"a job failed: {cause!r}")


def connect(address: str) -> None:
    """Join a cluster as its driver; nobody at the address, or another deixis there, is refused."""
    if ray.is_initialized():
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT).close()
    except (OSError, ValueError) as error:
        raise SearchError(
            f"no cluster answers at {address}: {error}. Start one with `ray start --head`, and "
            "give its HOST:PORT"
        ) from error
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError) as error:
        raise SearchError(f"the cluster at {address} cannot be joined: {error}") from error
    # Ray reports lost workers on standard output, where results go; `on_lost` reports them, too.
    ray._private.worker._worker_logs_enabled = False
    require_one_version()


def require_one_version() -> None:
    """Ask every node which deixis it would run."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    ask = ray.remote(_version)
    answers = {
        node["NodeManagerAddress"] + ":" + str(node["NodeManagerPort"]): ask.options(
            num_cpus=0.01,
            scheduling_strategy=ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                node["NodeID"], soft=False
            ),
        ).remote()
        for node in nodes
    }
    for name, reference in answers.items():
        try:
            found = ray.get(reference, timeout=120)
        except RayTaskError as error:
            raise SearchError(f"node {name} cannot import deixis: {error.cause}") from error
        if found != __version__:
            raise SearchError(
                f"node {name} has deixis {found}, this machine {__version__}; install the same "
                "version everywhere"
            )


def _version() -> str:
    from deixis import __version__ as here  # as the node has it

    return here


def _alive() -> set[str]:
    """The nodes that live, by their addresses."""
    return {
        f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"
        for node in ray.nodes()
        if node["Alive"]
    }


def _fitting_cpus(needed: float) -> float:
    """Processors of the nodes on which a task fits; Ray itself would wait for ever for one."""
    found = [node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]]
    fitting = sum(cpus for cpus in found if cpus >= needed)
    if not fitting:
        raise SearchError(
            f"a task needs {needed:g} processors, and the largest node of the cluster has "
            f"{max(found, default=0.0):g}"
        )
    return float(fitting)
