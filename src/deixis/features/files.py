"""Whole files only: atomic writes, and the hashes that say what a file or setting is."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old one or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write JSON a person can read, atomically."""
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)
    write_atomic(path, (text + "\n").encode())


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_hash(content: Any) -> str:
    """SHA-256 of a value as JSON, the same whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
