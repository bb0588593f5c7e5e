"""The one thread that owns the model and the library: requests wait in line and go in batches."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from deixis.errors import DeixisError, SearchError
from deixis.search.encoder import Encoder
from deixis.search.library import Library
from deixis.search.query import Query, Results
from deixis.search.searcher import Engine, Searcher

T = TypeVar("T")
LINE, BATCH = 64, 32  # requests that may wait, queries answered together
LINGER = 0.003  # seconds a query waits for company
FRESH = 1.0  # seconds between looks at whether the library changed


class BusyError(Exception):
    """The line is full; come back later."""

    seconds = 1


@dataclass(frozen=True, slots=True)
class Opened:
    """A library with its model and searcher, as long as nobody changes it."""

    library: Library
    encoder: Encoder
    searcher: Searcher


@dataclass(frozen=True, slots=True)
class _Job:
    work: Query | Callable[[Opened], Any]
    done: "Future[Any]"


class Worker:
    """Answers queries in batches and runs other work on the opened library, one at a time."""

    def __init__(
        self,
        folder: Path,
        load: Callable[[str], Encoder],
        on_batch: Callable[[int], None] = lambda size: None,
        line: int = LINE,
        engine: Engine = "exact",
    ) -> None:
        self._folder, self._load, self._on_batch = folder, load, on_batch
        self._engine: Engine = engine
        self._line: queue.Queue[_Job | None] = queue.Queue(maxsize=line)
        self._thread = threading.Thread(target=self._run, name="deixis-worker", daemon=True)
        self._opened: Opened | None = None
        self._version: tuple[str, int] | None = None
        self._looked = 0.0
        self.ready = threading.Event()

    def start(self) -> None:
        """Open the library; what refuses it is raised by the first job instead."""
        self._thread.start()
        self._line.put(_Job(lambda opened: self.ready.set(), Future()))

    def stop(self) -> None:
        """Finish what waits, then let go of the library."""
        self._line.put(None)
        self._thread.join()

    @property
    def waiting(self) -> int:
        """How many requests stand in line."""
        return self._line.qsize()

    def search(self, query: Query) -> "Future[Results]":
        """Put a query in line."""
        return self._submit(query)

    def call(self, work: Callable[[Opened], T]) -> "Future[T]":
        """Put other work in line."""
        return self._submit(work)

    def _submit(self, work: Query | Callable[[Opened], Any]) -> "Future[Any]":
        job = _Job(work, Future())
        try:
            self._line.put_nowait(job)
        except queue.Full:
            raise BusyError from None
        return job.done

    def _run(self) -> None:
        last = False
        while not last:
            jobs, last = self._gather()
            running = [job for job in jobs if job.done.set_running_or_notify_cancel()]
            self._answer([job for job in running if isinstance(job.work, Query)])
            for job in running:
                if not isinstance(job.work, Query):
                    self._settle([job], _alone(job.work))
        self._close()

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

    def _settle(self, jobs: Sequence[_Job], work: Callable[[Opened], Sequence[Any]]) -> None:
        try:
            answers = work(self._fresh())
        except Exception as error:  # whatever it is, it belongs to those who asked
            answers = [error] * len(jobs)
        for job, one in zip(jobs, answers, strict=True):
            if isinstance(one, Exception):
                job.done.set_exception(one)
            else:
                job.done.set_result(one)

    def _fresh(self) -> Opened:
        """The library as it is now; opened anew when another process has changed it."""
        now = time.monotonic()
        if self._opened is not None and now - self._looked < FRESH:
            return self._opened
        self._looked = now
        if self._opened is None or self._version != self._seen(self._opened.library):
            self._open()
        assert self._opened is not None
        return self._opened

    def _open(self) -> None:
        encoder = None if self._opened is None else self._opened.encoder
        library = Library(self._folder)
        if encoder is None or encoder.identity != library.header.model:
            encoder = self._load(library.header.source)
        self._close()
        try:
            opened = Opened(library, encoder, Searcher(encoder, library, self._engine))
        except DeixisError:
            library.close()
            raise
        self._opened, self._version = opened, self._seen(library)

    def _seen(self, library: Library) -> tuple[str, int]:
        try:
            current = (self._folder / "current").read_text(encoding="utf-8")
        except OSError as error:
            raise SearchError(f"the library '{self._folder}' is gone: {error.strerror}") from error
        return current, library.generation.manifest.changes()

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.library.close()
            self._opened = None


def _alone(work: Callable[[Opened], T]) -> Callable[[Opened], list[T]]:
    return lambda opened: [work(opened)]
