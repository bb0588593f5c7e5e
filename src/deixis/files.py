"""Files written whole or not at all, locks between processes, and hashes of content."""

import errno
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from deixis.errors import DeixisError

LOG = logging.getLogger("deixis")
SILENT = 1.0  # seconds to wait for another process without a word
STRAY = 60.0  # seconds after which a file of a process that has ended is removed


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file to write; it takes the place of ``path`` when the block succeeds.

    A reader, or a crash, sees the old file or the whole new one. When this returns, the new one
    survives a power cut: its bytes are on disk, and so is its name.
    """
    make_folder(path.parent)
    _collect_strays(path)
    temporary = _beside(path, "tmp")
    try:
        with _system_errors(path):
            yield temporary
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, *, over: bool = False) -> Iterator[Path]:
    """Give a temporary folder to fill; it becomes ``path``, whole and on disk, at the end.

    With ``over``, an older folder there makes room at the end and is removed: no system replaces a
    folder that holds files in one step. Cut off between these two, both lie beside ``path``.
    """
    make_folder(path.parent)
    _collect_strays(path)
    temporary, older = _beside(path, "partial"), _beside(path, "before")
    try:
        temporary.mkdir()
        with _system_errors(path):
            yield temporary
        for inside in (*temporary.rglob("*"), temporary):
            if not inside.is_symlink():
                sync(inside)
        if over and path.is_dir():
            os.replace(path, older)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if path.is_dir():
            shutil.rmtree(older, ignore_errors=True)
        elif older.is_dir():  # the new one could not take its place
            os.replace(older, path)


@contextmanager
def _system_errors(path: Path) -> Iterator[None]:
    """Let a full disk be the same error for all: numpy and libraries in Rust raise their own."""
    try:
        yield
    except Exception as error:
        found = re.search(r"\(os error (\d+)\)|\d+ requested and \d+ written", str(error))
        if found is None:
            raise
        number = int(found[1] or errno.ENOSPC)
        raise OSError(number, os.strerror(number), str(path)) from error


def make_folder(path: Path) -> None:
    """Make a folder and those above it, their names on disk when this returns."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for one in missing:
        sync(one.parent)


def sync(path: Path) -> None:
    """Wait until what a file holds, or which names a folder holds, is on disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders; its names are safe once they are given
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _beside(path: Path, kind: str) -> Path:
    """A name beside a path, shorter than any limit, that says which process it belongs to."""
    short = path.name.encode()[:100].decode(errors="ignore")
    return path.with_name(f".{short}.{os.getpid()}-{secrets.token_hex(4)}.{kind}")


def _collect_strays(path: Path) -> None:
    """Remove what processes of this machine left beside a path when they were killed."""
    short = re.escape(path.name.encode()[:100].decode(errors="ignore"))
    named = re.compile(rf"\.{short}\.(\d+)(?:-[0-9a-f]+)?\.(?:tmp|partial)")
    for entry in os.scandir(path.parent):
        found = named.fullmatch(entry.name)
        if found and not _lives(int(found[1])) and _age(entry) > STRAY:
            shutil.rmtree(entry.path, ignore_errors=True)
            Path(entry.path).unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's
    return True


def _age(entry: "os.DirEntry[str]") -> float:
    try:
        return time.time() - entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old one or the whole new one."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_json(path: Path, content: Any) -> None:
    """Write JSON a person can read, atomically."""
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)
    write_atomic(path, (text + "\n").encode())


def parse_json(content: str | bytes) -> Any:
    """Parse JSON from anywhere; what is nested too deeply is a ValueError like any other mistake.

    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def open_regular(path: str | Path) -> BufferedReader:
    """Open a file to read it; what may have no end, such as a pipe or a device, is an OSError."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


@contextmanager
def locked(path: Path, seconds: float = -1.0) -> Iterator[None]:
    """Hold a lock file against other processes; by default wait for as long as it takes.

    The system frees the lock however the process ends. Who holds it is noted beside it, for the
    error of a process that does not want to wait longer, and for the patience of one that does.
    """
    from filelock import FileLock, Timeout  # slow to load, and a search locks nothing

    make_folder(path.parent)
    holder = path.with_name(f"{path.name}.holder")
    lock = FileLock(path)
    try:
        lock.acquire(timeout=seconds if seconds >= 0 else SILENT)
    except Timeout as error:
        if seconds >= 0:
            raise DeixisError(
                f"{path.parent} is being written by {_read_holder(holder)}; wait for it to end, "
                "or end it"
            ) from error
        LOG.warning("waiting for %r: %s writes there", str(path.parent), _read_holder(holder))
        lock.acquire()
    try:
        holder.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        try:
            yield
        finally:
            holder.unlink(missing_ok=True)
    finally:
        lock.release()


def _read_holder(holder: Path) -> str:
    try:
        return holder.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return "another process"


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_hash(content: Any) -> str:
    """SHA-256 of a value as JSON, the same whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
