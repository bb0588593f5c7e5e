"""Hashes of files' bytes, remembered for as long as the system says a file is untouched."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from deixis.files import file_hash, json_hash, parse_json, write_json
from deixis.paths import cache_folder

SETTLED = 2.0  # seconds since a change after which another would show in the file's times

Known = dict[str, list[Any]]  # path → inode, size, times and hash


def content_hashes(root: Path, files: Sequence[str]) -> list[str]:
    """The hash of each file below a folder; empty for one that cannot be read.

    Reading everything again would take minutes. A file whose inode, size, and times of change are
    as they were has the hash it had: unlike its modification time, nobody can set its change time.
    """
    memory = cache_folder() / "hashes" / f"{json_hash(os.path.realpath(root))[:16]}.json"
    known, now = _read(memory), {}
    hashes = []
    for file in files:
        found = _facts(root / file)
        if found is None:
            hashes.append("")
            continue
        before = known.get(file)
        hash_ = before[-1] if before is not None and before[:-1] == found else _hash(root / file)
        hashes.append(hash_)
        if hash_ and time.time() - found[-1] / 1e9 > SETTLED:
            now[file] = [*found, hash_]
    if any(known.get(file) != facts for file, facts in now.items()):
        with suppress(OSError):  # a memory that cannot be written costs time only
            write_json(memory, known | now)
    return hashes


def content_hash(path: Path) -> str:
    """The hash of one file's bytes, such as a model's: reading them takes long beside a search."""
    (known,) = content_hashes(path.parent, [path.name])
    return known or file_hash(path)  # which says why it cannot be read


def _facts(path: Path) -> list[int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _hash(path: Path) -> str:
    try:
        return file_hash(path)
    except OSError:
        return ""


def _read(memory: Path) -> Known:
    try:
        found = parse_json(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
