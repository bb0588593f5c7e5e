"""Folders indexed while the library is served: begun, watched, paused and resumed from the page."""

import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from deixis.errors import DeixisError, SearchError
from deixis.paths import expanded
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.indexing import FileOutcome
from deixis.search.library.library_store import LibraryStore

MOST_PROBLEMS = 500  # kept for the page; `deixis status` lists all of them
PATIENCE = 2.0  # seconds for the files it is at, when the server ends
Standing = Literal["idle", "running", "paused", "done", "failed"]


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that could not be added, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexingProgress:
    """How far the last folder is."""

    standing: Standing = "idle"
    folder: str = ""
    done: int = 0
    total: int = 0
    added: int = 0
    problems: tuple[FileProblem, ...] = ()
    reason: str = ""  # why it failed


class _PausedError(Exception):
    """Raised between two files; what is written stays, and a later pass goes on from there."""


@dataclass
class IndexingJob:
    """Indexes one folder at a time, in a thread of its own.

    A pause ends the pass after a group of files that is safe on disk, and resuming begins another
    over the same folder, which finds those files unchanged: nothing is held meanwhile.
    """

    library: Path
    on_end: Callable[[], None]  # called when a pass ends, before anybody hears of it
    _now: IndexingProgress = field(default_factory=IndexingProgress)
    _problems: deque[FileProblem] = field(default_factory=lambda: deque(maxlen=MOST_PROBLEMS))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pausing: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def progress(self) -> IndexingProgress:
        """How far it is."""
        return self._now

    def begin(self, folder: str, encoder: Callable[[], SearchEncoder]) -> None:
        """Index a folder; refused while another one is."""
        path = expanded(folder)
        if not path.is_absolute() or not path.is_dir():
            raise SearchError(
                f"'{folder}' is not a folder on this machine; give its full path, such as "
                f"{os.path.expanduser('~/Pictures')}"
            )
        with self._lock:
            if self._now.standing == "running":
                raise SearchError(f"'{self._now.folder}' is being indexed; wait or pause it first")
            self._pausing.clear()
            self._problems.clear()
            self._now = IndexingProgress("running", str(path))
            self._thread = threading.Thread(
                target=self._run, args=(path, encoder), name="deixis-indexing", daemon=True
            )
            self._thread.start()

    def pause(self) -> None:
        """End the pass soon; ``begin`` with the same folder resumes it."""
        self._pausing.set()

    def stop(self) -> None:
        """Pause, and wait a little; a pass that is cut off loses nothing that was reported."""
        self.pause()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _run(self, path: Path, encoder: Callable[[], SearchEncoder]) -> None:
        try:
            model = encoder()
            with LibraryStore.open_or_create(self.library, model) as store:
                store.add([path], model, self._heard)
        except _PausedError:
            self._set("paused")
        except DeixisError as error:
            self._set("failed", str(error))
        except Exception as error:  # the page must hear of it, whatever it is
            self._set("failed", f"{type(error).__name__}: {error}")
        else:
            self._set("done")

    def _heard(self, outcome: FileOutcome, done: int, total: int) -> None:
        now = self._now
        if outcome.kind == "broken":
            self._problems.append(FileProblem(outcome.path, outcome.reason))
        added = now.added + (outcome.kind in ("added", "updated", "renamed"))
        problems = tuple(self._problems) if outcome.kind == "broken" else now.problems
        self._now = IndexingProgress("running", now.folder, done, total, added, problems)
        if self._pausing.is_set():
            raise _PausedError

    def _set(self, standing: Standing, reason: str = "") -> None:
        self.on_end()
        now = self._now
        self._now = IndexingProgress(
            standing, now.folder, now.done, now.total, now.added, now.problems, reason
        )
