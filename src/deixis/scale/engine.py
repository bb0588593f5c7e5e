"""Run one function over many jobs, on a cluster or here, and return what finishes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from deixis.extras import need

OnLost = Callable[[int, str], None]  # the place of a job, and what became of its task

J = TypeVar("J")
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
P = TypeVar("P")
Q = TypeVar("Q")

OnBlock = Callable[[int, int], None]  # blocks done, of how many


def silent(done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Finished(Generic[R]):
    """The result of one job, by the job's place, and how often it was begun."""

    place: int
    result: R
    attempts: int = 1


@runtime_checkable
class Engine(Protocol):
    """Runs jobs, in any order and anywhere."""

    def run(
        self, function: Callable[[J], R], jobs: Sequence[J], ordered: bool = False
    ) -> Iterator[Finished[R]]:
        """Yield each job's result once it is there; an error of the function ends the run.

        Ordered results come as the jobs do, with few that wait for one before them.
        """

    def cross(
        self,
        function: Callable[[A, B], tuple[P, Q]],
        sides: tuple[Sequence[A], Sequence[B]],
        merges: tuple[Callable[[Sequence[P]], Any], Callable[[Sequence[Q]], Any]],
        on_block: OnBlock = silent,
    ) -> tuple[Iterator[Any], Iterator[Any]]:
        """Let each row meet each column; a meeting leaves one part with each of them.

        The parts of a row, and those of a column, are merged where they lie, in order. What was
        merged comes back one row or column at a time, so that no machine holds everything.
        """


class LocalEngine:
    """One job after the other in this process: what every other engine must equal."""

    def run(
        self, function: Callable[[J], R], jobs: Sequence[J], ordered: bool = False
    ) -> Iterator[Finished[R]]:
        """Yield the results in order."""
        for place, job in enumerate(jobs):
            yield Finished(place, function(job))

    def cross(
        self,
        function: Callable[[A, B], tuple[P, Q]],
        sides: tuple[Sequence[A], Sequence[B]],
        merges: tuple[Callable[[Sequence[P]], Any], Callable[[Sequence[Q]], Any]],
        on_block: OnBlock = silent,
    ) -> tuple[Iterator[Any], Iterator[Any]]:
        """Let all meet, row by row, then merge."""
        rows, columns = sides
        met: list[list[tuple[P, Q]]] = []
        for row in rows:
            met.append([function(row, column) for column in columns])
            on_block(len(met) * len(columns), len(rows) * len(columns))
        of_rows = (merges[0]([part for part, _ in row]) for row in met)
        of_columns = (merges[1]([row[place][1] for row in met]) for place in range(len(columns)))
        return of_rows, of_columns


def engine_at(cluster: str | None, on_lost: OnLost, cpus: float = 1.0) -> Engine:
    """The cluster at an address, tasks of ``cpus`` processors each; or this process."""
    if cluster is None:
        return LocalEngine()
    need("ray", "cluster")
    from deixis.scale.ray_engine import RayEngine, connect  # brings Ray

    connect(cluster)
    return RayEngine(cluster, cpus, on_lost=on_lost)
