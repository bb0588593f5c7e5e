"""A separate queue for slow work, so that searches never wait behind it."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from deixis.serve.worker import BusyError

T = TypeVar("T")


class GoneError(Exception):
    """The client has left or the server ends: there is nobody to answer."""


@dataclass(frozen=True, slots=True)
class LongTask(Generic[T]):
    """Work in a lane: its answer to come, and the way to give it up."""

    done: "Future[T]"
    _left: threading.Event

    def leave(self) -> None:
        """Do not begin, or stop at the next opportunity."""
        self._left.set()
        self.done.cancel()


class Lane:
    """One thread of low priority; work that waited or took too long is given up."""

    def __init__(self, name: str, niceness: int, line: int, seconds: float) -> None:
        self._seconds = seconds
        self._room = threading.BoundedSemaphore(line + 1)
        self._thread = ThreadPoolExecutor(1, f"deixis-{name}", _lowered, (niceness,))
        self._ending = threading.Event()

    def call(self, work: Callable[[Callable[[], None]], T]) -> LongTask[T]:
        """Put work in line; it calls its argument now and then, which raises when it must end."""
        if not self._room.acquire(blocking=False):
            raise BusyError
        left, until = threading.Event(), time.monotonic() + self._seconds

        def check() -> None:
            if left.is_set() or self._ending.is_set():
                raise GoneError
            if time.monotonic() > until:
                raise BusyError

        def run() -> T:
            check()
            return work(check)

        done = self._thread.submit(run)
        done.add_done_callback(lambda _: self._room.release())
        return LongTask(done, left)

    def stop(self) -> None:
        """Give up what waits and what runs; what runs ends by itself, and is not waited for.

        On a busy machine a piece of work of low priority may take longer than the server has left.
        """
        self._ending.set()
        self._thread.shutdown(wait=False, cancel_futures=True)


def _lowered(niceness: int) -> None:
    """Let this thread yield to the others; Linux knows a priority for each thread."""
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
    except (AttributeError, OSError):
        return  # elsewhere all threads are alike
