"""An access log of bounded size, which no client can fill."""

import logging
import time

MOST, SECONDS = 20, 60.0  # at most 20 messages per minute


class BoundedLog(logging.Filter):
    """Lets a few messages through at a time and says how many it held back."""

    def __init__(self, most: int = MOST, seconds: float = SECONDS) -> None:
        super().__init__()
        self._most, self._seconds = most, seconds
        self._since, self._passed, self._held = time.monotonic(), 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is written."""
        now = time.monotonic()
        if now - self._since > self._seconds:
            if self._held:
                record.msg = f"{record.getMessage()} ({self._held} messages were held back)"
                record.args = ()
            self._since, self._passed, self._held = now, 0, 0
        self._passed += 1
        if self._passed > self._most:
            self._held += 1
            return False
        return True


def _is_no_error(record: logging.LogRecord) -> bool:
    """Whether a message is that requests are ended with the server, which was asked for."""
    return not record.getMessage().startswith("Cancel ")


def bound_logs() -> None:
    """Bound what the server logs by itself."""
    log = logging.getLogger("uvicorn.error")
    log.addFilter(_is_no_error)
    log.addFilter(BoundedLog())
