"""Limits on the number of connections and on slow clients."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD = 10.0  # seconds in which the head of a request must have come
IDLE = 15  # seconds a connection may stay open between two requests
ENDING = 3  # seconds that open requests have when the server ends
CONNECTIONS, SPARE = 512, 128  # open at once; files the process needs beside them


def most_connections() -> int:
    """How many connections may be open: fewer than the files this process may open."""
    try:
        import resource  # not on Windows
    except ImportError:
        return CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(CONNECTIONS, files - SPARE)) if files > 0 else CONNECTIONS


class BoundedProtocol(H11Protocol):
    """A connection that is closed when there are too many, or when no request comes on it.

    Of the parsers that Uvicorn has this one bounds heads and trailers (64 kB) and takes a request
    only when the one before is answered; httptools keeps whatever comes, gigabytes in seconds.
    """

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, or close it at once."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
            return
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; the time for a request's head begins with its first byte."""
        if self._is_between_requests() and self._clock is None:
            self._wait_for_head()
        super().data_received(data)
        if not self._is_between_requests():
            self._stop_clock()

    def _is_between_requests(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _wait_for_head(self) -> None:
        self._clock = asyncio.get_running_loop().call_later(HEAD, self._give_up)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        self._clock = None
        if self._is_between_requests() and not self.transport.is_closing():
            self.transport.close()
