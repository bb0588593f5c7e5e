"""Where a sharded library lies: named objects in a folder or in an S3 bucket, one interface.

Two operations make concurrent writers safe: `create` writes an object only where there is none,
and `swap` replaces it only while it still is what the writer last saw. Of any number of writers
that race, exactly one learns that it won.
"""

import hashlib
import os
import posixpath
import secrets
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from filelock import FileLock

from deixis.errors import SearchError
from deixis.extras import need
from deixis.files import make_folder, open_regular, sync
from deixis.search.library.pictures.folder_scan import reason_of

PART = ".part"  # ends the name of a file that is still being written

OnRefused = Callable[[str, str], None]  # the name of what cannot be looked at, and why


def unsaid(name: str, reason: str) -> None:
    """Leave out what cannot be looked at without a word."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as a listing shows it; the tag changes whenever the content does."""

    name: str
    size: int
    tag: str
    modified: float  # seconds since 1970


@runtime_checkable
class Store(Protocol):
    """Named objects; names are relative paths with forward slashes."""

    @property
    def url(self) -> str:
        """What opens this store again."""

    def read(self, name: str) -> bytes:
        """The content of an object."""

    def read_tagged(self, name: str) -> tuple[bytes, str]:
        """The content of an object and the tag that a later `swap` must show."""

    def write(self, name: str, content: bytes) -> None:
        """Write an object, replacing what was there."""

    def create(self, name: str, content: bytes) -> bool:
        """Write an object where there is none; False when somebody else was first."""

    def swap(self, name: str, content: bytes, tag: str) -> bool:
        """Replace an object that still has this tag; False when it was changed meanwhile."""

    def list(self, prefix: str = "", on_refused: OnRefused = unsaid) -> Iterator[StoredObject]:
        """Every object whose name begins with the prefix, in alphabetical order."""

    def delete(self, name: str) -> None:
        """Remove an object; one that is not there is no error."""


class FolderStore:
    """Objects as files below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def url(self) -> str:
        """The folder's path."""
        return str(self._folder)

    def read(self, name: str) -> bytes:
        """The content of a file."""
        try:
            with open_regular(self._path(name)) as file:
                return file.read()
        except FileNotFoundError as error:
            raise MissingObjectError(name, self.url) from error

    def read_tagged(self, name: str) -> tuple[bytes, str]:
        """The content of a file and its hash."""
        content = self.read(name)
        return content, _hash(content)

    def write(self, name: str, content: bytes) -> None:
        """Replace a file; a reader sees the old content or the new, never a part."""
        path = self._path_made(name)
        os.replace(self._temporary(path, content), path)
        sync(path.parent)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file where there is none: a hard link cannot replace another."""
        path = self._path_made(name)
        temporary = self._temporary(path, content)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        finally:
            temporary.unlink()
        sync(path.parent)
        return True

    def swap(self, name: str, content: bytes, tag: str) -> bool:
        """Compare the hash and replace the file, one writer at a time."""
        path = self._path_made(name)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if not path.exists() or _hash(path.read_bytes()) != tag:
                return False
            self.write(name, content)
            return True

    def list(self, prefix: str = "", on_refused: OnRefused = unsaid) -> Iterator[StoredObject]:
        """Every finished file below the folder; its tag is made of its size and time."""
        listed = []
        folders = [""]  # not by recursion: a tree may be deeper than Python's stack
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self._folder / folder) as found:
                    entries = list(found)
            except FileNotFoundError:  # a store that is not there yet, or a folder that has gone
                continue
            except OSError as error:
                if not folder:
                    raise SearchError(f"{self.url} cannot be read: {reason_of(error)}") from error
                on_refused(folder, f"folder not readable: {reason_of(error)}")
                continue
            for entry in entries:
                name = posixpath.join(folder, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif name.startswith(prefix) and not entry.name.startswith("."):
                    listed.append((name, entry))
        for name, entry in sorted(listed, key=lambda one: one[0]):
            if (one := _looked_at(name, entry, on_refused)) is not None:
                yield one

    def delete(self, name: str) -> None:
        """Remove a file."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / name

    def _path_made(self, name: str) -> Path:
        path = self._path(name)
        make_folder(path.parent)
        return path

    def _temporary(self, path: Path, content: bytes) -> Path:
        temporary = path.with_name(f".{secrets.token_hex(8)}{PART}")
        # Unlike those of tempfile, such files can be read by whom the user's mask allows.
        with open(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return temporary


def _looked_at(name: str, entry: "os.DirEntry[str]", on_refused: OnRefused) -> StoredObject | None:
    try:
        found = entry.stat()
    except OSError as error:
        on_refused(name, reason_of(error))
        return None
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for ever
        on_refused(name, "not a regular file")
        return None
    tag = f"{found.st_size}-{found.st_mtime_ns}"
    return StoredObject(name, found.st_size, tag, found.st_mtime)


class SilentStoreError(SearchError):
    """A store that does not answer, which is the fault of none of its objects."""


class MissingObjectError(SearchError):
    """An object that a store does not have."""

    def __init__(self, name: str, url: str) -> None:
        super().__init__(f"there is no '{name}' in {url}")


def open_store(url: str) -> Store:
    """The store at a folder's path or at ``s3://bucket/prefix``."""
    if not url.startswith("s3://"):
        return FolderStore(Path(url))
    need("obstore", "cluster")
    from deixis.scale.bucket import BucketStore

    return BucketStore(url)


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
