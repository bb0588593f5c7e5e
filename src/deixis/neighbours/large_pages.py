"""Memory in pages of 2 MB, where the system gives them to a program that asks.

A scan reads every row once, in order; where it has to find a page every 4 kB, it takes a fifth
longer. Numpy asks for large pages for its arrays, ONNX Runtime does not for its own. Moving 100 MB
takes some 40 ms, so it pays where many scans follow.
"""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

LARGE = 2**21  # bytes of a large page
PAGE = 4096
HUGEPAGE, COLLAPSE = 14, 25  # Linux's numbers of these pieces of advice
MAPS = Path("/proc/self/maps")


def use_large_pages() -> None:
    """Move what this process has in memory into large pages, as far as it fills them.

    Nothing depends on it: a system that refuses leaves everything as it was.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        system = ctypes.CDLL(None)
        for start, end in list(_own_memory()):
            for first, last in _filled(system, start, end):
                system.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), HUGEPAGE)
                system.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Where memory that may be written and is of no file lies, in whole large pages."""
    for line in MAPS.read_text(encoding="utf-8").splitlines():
        places, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights == "rw-p" and inode == "0" and (not name or name[0] == "[heap]"):
            start, end = (int(place, 16) for place in places.split("-"))
            start, end = -(-start // LARGE) * LARGE, end // LARGE * LARGE
            if start < end:
                yield start, end


def _filled(system: ctypes.CDLL, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretches in which every small page is in use: a large one would add to the others."""
    used = np.zeros((end - start) // PAGE, np.uint8)
    if system.mincore(
        ctypes.c_void_p(start), ctypes.c_size_t(end - start), used.ctypes.data_as(ctypes.c_void_p)
    ):
        return
    whole = (used & 1).reshape(-1, LARGE // PAGE).all(axis=1)
    edges = np.flatnonzero(np.diff(whole, prepend=False, append=False)).reshape(-1, 2)
    for first, last in start + LARGE * edges:
        yield int(first), int(last)
