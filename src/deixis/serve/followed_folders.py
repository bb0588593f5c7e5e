"""A served library that watches its own folders."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deixis.errors import DeixisError
from deixis.search.library.indexing import IndexingReport
from deixis.search.library.library import Library
from deixis.search.library.library_store import LibraryStore

LOG = logging.getLogger("uvicorn.error")
PATIENCE = 2.0  # seconds for a pass to end with the server; one that is cut off loses nothing
LOOK_EVERY = 1.0  # seconds between looks at which folders the library has


@contextmanager
def followed_folders(library: Path) -> Iterator[None]:
    """Bring a library in line with its folders, in a thread beside the server, while it runs."""
    stop = threading.Event()
    thread = threading.Thread(
        target=_follow, args=(library, stop), name="deixis-watch", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE)


def _follow(library: Path, stop: threading.Event) -> None:
    """Follow the library's folders, and those that somebody adds meanwhile."""
    try:
        with Library(library) as own:
            while not stop.is_set():
                _follow_these(own, _folders(library), stop)
    except Exception:  # searches go on without it; the log says why
        LOG.exception("%s: its folders are not followed any more", library)


def _follow_these(own: Library, folders: list[str], stop: threading.Event) -> None:
    if not folders:
        stop.wait(LOOK_EVERY)
        return
    library = Path(own.folder)
    try:
        own.follow(
            *folders,
            on_pass=lambda report: _log(library, report),
            on_error=lambda error: _warn(library, error),
            stop=_UntilOthers(stop, library, folders),
        )
    except DeixisError as error:  # a folder that was just added is still being indexed
        _warn(library, error)
        stop.wait(LOOK_EVERY)


class _UntilOthers(threading.Event):
    """Set when the server ends, or when the library has other folders than those followed."""

    def __init__(self, stop: threading.Event, library: Path, folders: list[str]) -> None:
        super().__init__()
        self._stop, self._library, self._folders = stop, library, folders
        self._next = time.monotonic() + LOOK_EVERY

    def is_set(self) -> bool:
        if not self._stop.is_set() and time.monotonic() > self._next:
            self._next = time.monotonic() + LOOK_EVERY
            if _folders(self._library) != self._folders:
                self.set()
        return self._stop.is_set() or super().is_set()


def _folders(library: Path) -> list[str]:
    with LibraryStore(library) as store:
        return [path for path in store.generation.manifest.folders() if Path(path).is_dir()]


def _warn(library: Path, error: DeixisError) -> None:
    LOG.warning("%s: %s; trying again", library, error)


def _log(library: Path, report: IndexingReport) -> None:
    if set(report.counts) - {"unchanged"}:
        LOG.warning("%s: %s", library, report.summary)
