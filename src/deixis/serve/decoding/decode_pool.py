"""A pool of decoder processes, so that no uploaded file can stop or fill the server."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Literal

from deixis.errors import DataError
from deixis.search.library.pictures.encode_group import cores
from deixis.serve.decoding.message_frames import read_message, write_message
from deixis.serve.worker import BusyError

PROCESSES = max(1, min(2, cores() - 1))  # a core is left to the searches beside them
SECONDS = 30.0  # a picture may take to be opened, on a machine that is busy with other things
STARTING = 60.0  # seconds a decoder may take to start, which does not count for the picture
LINE = 32  # pictures that may wait
QUERY_SIDE = 512  # pixels a picture to search by keeps at least, where it has them


@dataclass(frozen=True, slots=True)
class PictureForm:
    """How a picture is wanted: least and largest side, a part of it, a format.

    The shorter side keeps ``side`` pixels where it can; in all there are at most four million.
    """

    side: int = QUERY_SIDE
    largest: int = 0  # of the longer side; 0: as it comes
    crop: tuple[float, float, float, float] | None = None
    format: Literal["BMP", "JPEG"] = "BMP"


class DecodePool:
    """Starts decoders when they are first needed, and again when one had to be killed."""

    def __init__(self, processes: int = PROCESSES, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(processes, "deixis-decode")
        self._room = threading.BoundedSemaphore(LINE + processes)
        self._own = threading.local()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._stopping = False

    def open(self, content: bytes, form: PictureForm) -> "Future[bytes]":
        """Put a picture in line; what cannot be opened is a DataError."""
        if not self._room.acquire(blocking=False):
            raise BusyError
        done = self._threads.submit(self._exchange, content, form)
        done.add_done_callback(lambda _: self._room.release())
        return done

    def stop(self) -> None:
        """End every decoder, whatever it is at."""
        self._stopping = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in tuple(self._children):
            self._end(child)
        self._threads.shutdown(wait=True)

    def _exchange(self, content: bytes, form: PictureForm) -> bytes:
        child = self._child()
        with _killed_after(self._seconds, child):
            try:
                assert child.stdin is not None and child.stdout is not None
                write_message(child.stdin, asdict(form), content)
                answer = read_message(child.stdout)
            except OSError:
                answer = None
        if answer is None:
            self._end(child)
            raise DataError("the picture cannot be opened within the limits of time and memory")
        head, opened = answer
        if not head["ok"]:
            raise DataError(head["reason"])
        return opened

    def _child(self) -> "subprocess.Popen[bytes]":
        """The decoder of the thread that calls."""
        child: subprocess.Popen[bytes] | None = getattr(self._own, "child", None)
        if child is None or child.poll() is not None:
            child = subprocess.Popen(
                [sys.executable, "-m", "deixis.serve.decoding.decode_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl-C is for the server, which ends it in order
            )
            self._own.child = child
            self._children.add(child)
            if self._stopping:  # those that were known are ended already; this one is not
                self._end(child)
                raise BusyError
            with _killed_after(STARTING, child):
                assert child.stdout is not None
                read_message(child.stdout)  # that it is ready
        return child

    def _end(self, child: "subprocess.Popen[bytes]") -> None:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was left to send has nobody to read it
                    continue
        self._children.discard(child)


@contextmanager
def _killed_after(seconds: float, child: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Let a block wait for a decoder, but not longer."""
    clock = threading.Timer(seconds, child.kill)
    clock.start()
    try:
        yield
    finally:
        clock.cancel()
