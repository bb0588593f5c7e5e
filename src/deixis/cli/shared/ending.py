"""How the command ends on a signal, a closed pipe or a full disk: one line and the right code."""

import errno
import os
import re
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedBySignal(BaseException):
    """A signal asked the command to end; no verb may treat it as an error of its own."""

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
        leave_as_it_is(code)
    sys.exit(code)


def leave_as_it_is(code: int) -> NoReturn:
    """End the process without taking anything down; what is to last must lie on disk."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def memory_sentence(error: Exception) -> str | None:
    """What is said when the memory does not suffice; None for any other error.

    torch has no class of its own for it on a processor.
    """
    said = str(error)
    if isinstance(error, MemoryError) or re.search("allocate memory|out of memory", said):
        asked = re.search(r"allocate (\d+) bytes", said)
        much = f" for the {int(asked[1]) / 1e9:,.1f} GB wanted at once" if asked else ""
        return f"there is not enough memory{much}; make the model, the batch or the corpus smaller"
    return None


def system_sentence(error: OSError) -> str:
    """An error of the operating system, such as a full disk, as one sentence."""
    where = f"{error.filename}: " if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"{where}the disk is full; free some space and run the same command again"
    if error.errno == errno.ENAMETOOLONG:
        return f"{where[:80]}… the name is longer than the file system allows"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"{where}a file is there where a folder is wanted; name another place"
    return f"{where}{error.strerror or error}"
