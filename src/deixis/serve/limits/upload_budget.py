"""A budget for the bytes of uploads, and of the pixels decoded from them, held at once."""

from collections.abc import Iterator
from contextlib import contextmanager

from deixis.serve.worker import BusyError

MOST = 64_000_000


class UploadBudget:
    """Counts bytes taken and given back, all in the thread of the event loop."""

    def __init__(self, most: int = MOST) -> None:
        self._left = most

    @contextmanager
    def holding(self, size: int) -> Iterator[None]:
        """Reserve ``size`` bytes while the block runs; when they are not left, come back later."""
        if size > self._left:
            raise BusyError
        self._left -= size
        try:
            yield
        finally:
            self._left += size
