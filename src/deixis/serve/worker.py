"""The one thread that owns the model and the library: requests queue up and go in batches."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from deixis.search.query.query import Query, Results
from deixis.serve.served_library import OpenedLibrary, ServedLibrary

T = TypeVar("T")
LINE = 256  # requests that may wait
BATCH = 8  # queries answered together: more cost hardly less each, and who comes next waits longer
LINGER = 0.003  # seconds a query waits for others to join its batch
PATIENCE = 15.0  # seconds a request may wait before it is asked to come back later
ENDING = 3.0  # seconds a running batch has to end when the server does
FRESH = 1.0  # seconds between checks whether the library changed
NEVER = float("-inf")


class BusyError(Exception):
    """The queue is full; come back later."""

    seconds = 1


@dataclass(frozen=True, slots=True)
class _Job:
    work: Query | Callable[[OpenedLibrary], Any]
    done: "Future[Any]"
    until: float = float("inf")


class Worker:
    """Answers queries in batches and runs other work on the opened library, one at a time."""

    def __init__(
        self,
        library: ServedLibrary,
        on_batch: Callable[[int], None] = lambda size: None,
        line: int = LINE,
    ) -> None:
        self._library, self._on_batch = library, on_batch
        self._line: queue.Queue[_Job | None] = queue.Queue(maxsize=line)
        self._thread = threading.Thread(target=self._run, name="deixis-worker", daemon=True)
        self._opened: OpenedLibrary | None = None
        self._looked = NEVER
        self.ready = threading.Event()

    def start(self) -> None:
        """Open the library; what refuses it is raised by the first job instead."""
        self._thread.start()
        self._line.put(_Job(lambda opened: self.ready.set(), Future()))

    def stop(self) -> None:
        """Send away who waits, finish what runs, then close the library."""
        with suppress(queue.Empty):
            while True:
                job = self._line.get_nowait()
                if job is not None and job.done.set_running_or_notify_cancel():
                    job.done.set_exception(BusyError())
        self._line.put(None)
        self._thread.join(ENDING)

    @property
    def waiting(self) -> int:
        """How many requests are waiting."""
        return self._line.qsize()

    @property
    def plain_passes(self) -> int:
        """How many queries needed a pass over every row in float32 since the library was opened."""
        opened = self._opened
        return 0 if opened is None else opened.searcher.plain_passes

    def search(self, query: Query) -> "Future[Results]":
        """Put a query in line."""
        return self._submit(query)

    def call(self, work: Callable[[OpenedLibrary], T]) -> "Future[T]":
        """Put other work in line."""
        return self._submit(work)

    def look_again(self) -> None:
        """Notice at the next request what this process has just written to the library."""
        self._looked = NEVER

    def _submit(self, work: Query | Callable[[OpenedLibrary], Any]) -> "Future[Any]":
        job = _Job(work, Future(), time.monotonic() + PATIENCE)
        try:
            self._line.put_nowait(job)
        except queue.Full:
            raise BusyError from None
        return job.done

    def _run(self) -> None:
        while self._turn():
            continue
        self._close()

    def _turn(self) -> bool:
        """Answer who comes next; nothing of them is kept while nobody else comes."""
        jobs, last = self._gather()
        running = [job for job in jobs if job.done.set_running_or_notify_cancel()]
        running = [job for job in running if not _expired(job)]
        self._answer([job for job in running if isinstance(job.work, Query)])
        for job in running:
            if not isinstance(job.work, Query):
                self._settle([job], _alone(job.work))
        return not last

    def _gather(self) -> tuple[list[_Job], bool]:
        """The first job that comes and those that follow closely; whether it is time to stop."""
        jobs: list[_Job] = []
        until = float("inf")
        while len(jobs) < BATCH:
            try:
                wait = None if not jobs else max(until - time.monotonic(), 0)
                job = self._line.get(timeout=wait)
            except queue.Empty:
                break
            if job is None:
                return jobs, True
            until = min(until, time.monotonic() + LINGER)
            jobs.append(job)
        return jobs, False

    def _answer(self, jobs: Sequence[_Job]) -> None:
        queries = [job.work for job in jobs if isinstance(job.work, Query)]
        if queries:
            self._on_batch(len(queries))
            self._settle(jobs, lambda opened: opened.searcher.search_all(queries))

    def _settle(self, jobs: Sequence[_Job], work: Callable[[OpenedLibrary], Sequence[Any]]) -> None:
        try:
            answers = work(self._fresh())
        except Exception as error:  # whatever it is, it belongs to those who asked
            answers = [error] * len(jobs)
        for job, one in zip(jobs, answers, strict=True):
            if isinstance(one, Exception):
                job.done.set_exception(one)
            else:
                job.done.set_result(one)

    def _fresh(self) -> OpenedLibrary:
        """The library as it is now; opened again when another process has changed it."""
        now = time.monotonic()
        if self._opened is not None and now - self._looked < FRESH:
            return self._opened
        self._looked = now  # before looking: what is written from here on is looked for again
        if self._opened is None or not self._opened.is_current():
            self._open()
        assert self._opened is not None
        return self._opened

    def _open(self) -> None:
        encoder = None if self._opened is None else self._opened.encoder
        opened = self._library.open(encoder)
        self._close()
        self._opened = opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def _expired(job: _Job) -> bool:
    if time.monotonic() <= job.until:
        return False
    job.done.set_exception(BusyError())
    return True


def _alone(work: Callable[[OpenedLibrary], T]) -> Callable[[OpenedLibrary], list[T]]:
    return lambda opened: [work(opened)]
