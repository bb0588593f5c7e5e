"""Await an answer only until the client has gone or the time is up."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from deixis.serve.worker import BusyError

T = TypeVar("T")
LONGEST = 30.0  # seconds anybody waits for an answer


async def answer_of(
    request: Request, done: "Future[T]", leave: Callable[[], object] | None = None
) -> T:
    """Await one of the answers a request needs, as long as who asked is there and has time left.

    After that ``leave`` is called, or the work cancelled if it has not begun.
    """
    now = asyncio.get_running_loop().time()
    until = request.scope.setdefault("deixis.until", now + LONGEST)  # for all of them together
    awaited = asyncio.wrap_future(done)
    gone = asyncio.ensure_future(_gone(request))
    either: set[asyncio.Future[Any]] = {awaited, gone}
    try:
        await asyncio.wait(
            either, timeout=max(until - now, 0.0), return_when=asyncio.FIRST_COMPLETED
        )
        if awaited.done():
            return await awaited
        raise ClientDisconnect if gone.done() else BusyError
    finally:
        gone.cancel()
        if not done.done():
            (leave or done.cancel)()
            awaited.cancel()  # nobody asks what becomes of it, and nobody need be warned of that


async def _gone(request: Request) -> None:
    """Return when the caller leaves; the body is read by then, and nothing else can come."""
    while (await request.receive())["type"] != "http.disconnect":
        continue
