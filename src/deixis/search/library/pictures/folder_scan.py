"""Which picture files are on disk, and the hashes of their content."""

import hashlib
import os
import stat
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from deixis.features.store.picture_formats import PICTURE_TYPES
from deixis.files import open_regular

LARGEST = 1_000_000_000  # bytes; what is decoded, 80 megapixels, takes 640 MB at the most


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as the disk shows it."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class FolderScan:
    """The picture files below some paths, and the places that could not be looked into."""

    paths: frozenset[str]
    files: dict[str, FoundFile] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)  # path → reason
    missing: list[str] = field(default_factory=list)  # given paths that do not exist

    def vanished(self, path: str) -> bool:
        """Whether a known path is surely gone, not only hidden by an unreadable folder."""
        return path not in self.files and not lies_in(path, self.unreadable)


def scan(paths: Iterable[str | Path]) -> FolderScan:
    """Find pictures: folders by file name, files as given."""
    # A loop of links has no real path; it is kept as it is and found unreadable below.
    seen = FolderScan(frozenset(os.path.realpath(path) for path in paths))
    for given in sorted(seen.paths):
        if os.path.isdir(given):
            _walk(given, seen)
        elif os.path.lexists(given):
            _enter(given, seen)
        else:
            seen.missing.append(given)
    return seen


def lies_in(path: str, places: Container[str]) -> bool:
    """Whether a path is one of some places or inside one, judging by its name only."""
    while path not in places:
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent
    return True


def content_hash(path: str) -> str:
    """A hash of a file's content, whatever its name; it may be another file than was scanned."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def too_large(size: int) -> str:
    """Why a file is not even read: a sparse one may be of any size, and hashing it takes hours."""
    return f"{size / 1e9:.1f} GB; a picture file has at most {LARGEST / 1e9:.0f} GB"


def reason_of(error: OSError) -> str:
    """The system's reason, without the path, which the caller shows."""
    return error.strerror or str(error)


def _walk(root: str, seen: FolderScan) -> None:
    folders = [root]  # not by recursion: a tree may be deeper than Python's stack
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            shown = folder.encode(errors="backslashreplace").decode()
            seen.unreadable[shown] = f"folder not readable: {reason_of(error)}"
            continue
        folders += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        for entry in entries:
            picture = os.path.splitext(entry.name)[1].lower() in PICTURE_TYPES
            if picture and not entry.is_dir(follow_symlinks=False):
                _enter(entry.path, seen)


def _enter(path: str, seen: FolderScan) -> None:
    try:
        path.encode()
        facts = os.stat(path)
    except UnicodeEncodeError:
        shown = path.encode(errors="backslashreplace").decode()
        seen.unreadable[shown] = "its name is not UTF-8; rename it"
    except OSError as error:
        seen.unreadable[path] = reason_of(error)
    else:
        if not stat.S_ISREG(facts.st_mode):  # opening a pipe would wait forever
            seen.unreadable[path] = "not a regular file"
        elif facts.st_size > LARGEST:
            seen.unreadable[path] = too_large(facts.st_size)
        else:
            seen.files[path] = FoundFile(path, facts.st_size, facts.st_mtime_ns)
