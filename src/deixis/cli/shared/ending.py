"""How the command ends when somebody, or something, ends it: one line and the right code."""

import errno
import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedBySignal(BaseException):
    """Somebody wants the command to end; no verb may take it for an error of its own."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def code(self) -> int:
        """The exit code shells expect: 130 after Ctrl-C, 143 after a plain kill."""
        return 128 + self.number

    def __str__(self) -> str:
        name = "interrupted" if self.number == signal.SIGINT else "terminated"
        return f"{name}; what was finished is kept, and the same command goes on from there"


def end_in_order() -> None:
    """Let both signals unwind the stack, so that locks and temporary files go."""
    for number in SIGNALS:
        signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise StoppedBySignal(number)


def leave(code: int) -> NoReturn:
    """End the process now; Python would first wait for threads at work, however long they take."""
    if threading.active_count() > 1:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)


def system_sentence(error: OSError) -> str:
    """An error of the operating system, such as a full disk, as one sentence."""
    where = f"{error.filename}: " if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"{where}the disk is full; free some space and run the same command again"
    if error.errno == errno.ENAMETOOLONG:
        return f"{where[:80]}… the name is longer than the file system allows"
    return f"{where}{error.strerror or error}"
