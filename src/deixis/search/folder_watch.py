"""Watch folders: update the library whenever something in them changes.

Every pass looks at all followed folders, which is cheap (names, sizes and times) and cannot lose a
rename, whatever the system reported of it. Passes are kept apart, so that a folder that changes all
the time costs a bounded share of one core.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from watchfiles import watch

from deixis.errors import DeixisError
from deixis.paths import expanded
from deixis.search.library.indexing import IndexingReport

SETTLE = 500  # milliseconds without a change before a pass begins; most writers are done by then
LONGEST = 2_000  # the same when changes never stop
PAUSE = 2.0  # seconds between two passes at least
SHARE = 4.0  # a pass that took long is followed by four times its own length of rest
SELDOM = 600.0  # seconds after which to look anyway: some drives report nothing
WAKE = 500  # milliseconds after which to look whether to stop


class FolderWatch:
    """Runs a pass at once, and again after every change below some folders, until stopped."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        library: Path,
        on_pass: Callable[[IndexingReport], None],
        on_error: Callable[[DeixisError], None],
    ) -> None:
        self._paths = [expanded(path) for path in paths]
        self._own = os.path.join(os.path.realpath(library), "")
        self._on_pass, self._on_error = on_pass, on_error

    def run(self, add: Callable[[], IndexingReport], stop: Event) -> None:
        """Follow the folders; a pass that fails is reported and tried again."""
        self._on_pass(add())  # what is wrong from the start is the caller's to hear
        # Once more when the system reports changes: some came between the pass and that moment.
        due = True
        rest_until, seldom = time.monotonic() + PAUSE, time.monotonic() + SELDOM
        changes = watch(
            *self._paths,
            watch_filter=lambda _, path: not self._is_own(path),
            debounce=LONGEST,
            step=SETTLE,
            stop_event=stop,
            rust_timeout=WAKE,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        for some in changes:
            began = time.monotonic()
            due = due or bool(some) or began > seldom
            if not due or began < rest_until:
                continue
            due = not self._pass(add)
            took = time.monotonic() - began
            rest_until = began + took + max(PAUSE, SHARE * took)
            seldom = began + SELDOM

    def _pass(self, add: Callable[[], IndexingReport]) -> bool:
        try:
            report = add()
        except DeixisError as error:
            self._on_error(error)
            return False
        if set(report.counts) - {"unchanged"}:
            self._on_pass(report)
        return True

    def _is_own(self, path: str) -> bool:
        """Whether the library itself changed, which it does in every pass."""
        return os.path.join(os.path.realpath(path), "").startswith(self._own)
