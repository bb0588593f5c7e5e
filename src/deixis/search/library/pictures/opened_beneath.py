"""Indexed files opened without following links, so that no path leads out of its folder."""

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import PurePath

from deixis.errors import DataError
from deixis.search.library.pictures.folder_scan import lies_in

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def read_indexed(path: str, roots: Sequence[str], size: int, name: str) -> bytes:
    """The content of an indexed file, refused unless it is inside a root and unchanged.

    Roots were free of links when they were indexed; one that has become a link since, or a folder
    on the way, leads elsewhere and is not followed. A link that was indexed itself is followed
    once, to a file below the roots.
    """
    # A manifest may come from elsewhere: what it names is not yet what was indexed.
    if os.path.normpath(path) != path or not lies_in(path, set(roots)):
        raise DataError(f"{path} lies outside the indexed folders")
    wanted = _target(path, roots) if os.path.islink(path) else path
    try:
        handle = _opened(wanted)
    except OSError as error:
        raise DataError(
            f"{path}: {error.strerror}, or a folder on the way is a link now"
        ) from error
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size != size:
            raise DataError(f"{path} changed since it was indexed")
        content = file.read(size + 1)
    if hashlib.blake2b(content, digest_size=16).hexdigest() != name:
        raise DataError(f"{path} changed since it was indexed")
    return content


def _target(path: str, roots: Sequence[str]) -> str:
    target = os.path.realpath(path)
    if not lies_in(target, set(roots)):
        raise DataError(
            f"{path} is a link to a file outside the indexed folders; index that folder"
        )
    return target


def _opened(path: str) -> int:
    """Open a file by one step after the other from the top, none of which may be a link."""
    *folders, name = PurePath(path).parts[1:]
    current = os.open(PurePath(path).anchor, FOLDER)
    try:
        for folder in folders:
            below = os.open(folder, FOLDER, dir_fd=current)
            os.close(current)
            current = below
        return os.open(name, FILE, dir_fd=current)
    finally:
        os.close(current)
