"""What the server counts, in the format of Prometheus."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Metrics:
    """Requests by route and status, their seconds, batch sizes, and the length of the line."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "deixis_requests_total", "Requests.", ["route", "status"], registry=self._registry
        )
        self.seconds = Histogram(
            "deixis_request_seconds", "Seconds a request took.", ["route"], registry=self._registry
        )
        self.batches = Histogram(
            "deixis_batch_queries",
            "Queries answered together.",
            buckets=(1, 2, 4, 8),
            registry=self._registry,
        )
        self._waiting = Gauge("deixis_waiting", "Requests in line.", registry=self._registry)

        self._plain = Gauge(
            "deixis_plain_passes",
            "Queries for which every row was read in float32, since the library was opened.",
            registry=self._registry,
        )

    def watch(self, waiting: Callable[[], int], plain_passes: Callable[[], int]) -> None:
        """Read the length of the line and the plain passes whenever somebody asks."""
        self._waiting.set_function(waiting)
        self._plain.set_function(plain_passes)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)


LEFT = 499  # what is counted when the caller left before there was an answer


class MeasureRequests:
    """Counts and times every request by its route, refused ones too."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through and note how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), LEFT

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception:  # counted here, answered further out
            status = 500
            raise
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - started)
