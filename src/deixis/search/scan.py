"""Which picture files lie on disk, and what their content is."""

import hashlib
import os
import stat
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})


@dataclass(frozen=True, slots=True)
class Found:
    """A file as the disk shows it."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The picture files below some paths, and the places that could not be looked into."""

    paths: frozenset[str]
    files: dict[str, Found] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)  # path → reason
    missing: list[str] = field(default_factory=list)  # given paths that do not exist

    def covers(self, path: str) -> bool:
        """Whether a path is one of the given ones or lies below one."""
        return _lies_in(path, self.paths)

    def vanished(self, path: str) -> bool:
        """Whether a covered path is surely gone, not only out of sight in an unreadable folder."""
        return path not in self.files and not _lies_in(path, self.unreadable)


def scan(paths: Iterable[str | Path]) -> Scan:
    """Look for pictures: folders by file name, files as given."""
    seen = Scan(frozenset(str(Path(path).resolve()) for path in paths))
    for given in sorted(seen.paths):
        if os.path.isdir(given):
            _walk(given, seen)
        elif os.path.lexists(given):
            _enter(given, seen)
        else:
            seen.missing.append(given)
    return seen


def content_hash(path: str) -> str:
    """A name for what is in a file, whatever it is called."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def reason_of(error: OSError) -> str:
    """Why the system refused, without the path, which stands beside it anyway."""
    return error.strerror or str(error)


def _walk(root: str, seen: Scan) -> None:
    def refuse(error: OSError) -> None:
        seen.unreadable[str(error.filename)] = f"folder not readable: {reason_of(error)}"

    for folder, _, names in os.walk(root, onerror=refuse):
        for name in names:
            if os.path.splitext(name)[1].lower() in SUFFIXES:
                _enter(os.path.join(folder, name), seen)


def _enter(path: str, seen: Scan) -> None:
    try:
        path.encode()
        facts = os.stat(path)
    except UnicodeEncodeError:
        shown = path.encode(errors="backslashreplace").decode()
        seen.unreadable[shown] = "its name is not UTF-8; rename it"
    except OSError as error:
        seen.unreadable[path] = reason_of(error)
    else:
        if stat.S_ISREG(facts.st_mode):
            seen.files[path] = Found(path, facts.st_size, facts.st_mtime_ns)
        else:  # opening a pipe would wait for ever
            seen.unreadable[path] = "not a regular file"


def _lies_in(path: str, places: Container[str]) -> bool:
    while path not in places:
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent
    return True
