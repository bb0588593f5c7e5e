"""The checks before every request: who may ask, how much, and what a browser may do with it."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deixis.serve.limits.access_token import (
    COOKIE,
    checked_token,
    is_token,
    quoted,
    sent_token,
    token_in_link,
)
from deixis.serve.limits.same_origin import PICTURES, RECORDINGS, foreign, wrong_type
from deixis.serve.problem_documents import problem

LARGEST_REQUEST, LARGEST_PICTURE = 1_000_000, 32_000_000
LARGEST = {PICTURES: LARGEST_PICTURE, RECORDINGS: 12_000_000}  # a minute at 48,000 Hz, two channels
LARGE = "the request is larger than {:,} bytes"
LOOPBACK = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)
OPEN = frozenset({"/healthz", "/readyz"})  # what a supervisor asks, it asks without a token
PROOF = "/v1/proof/"  # what it answers to a secret proves who it is; that comes before a token
BODY, ANSWER = 30.0, 60.0  # seconds a body may take to come, and a piece of an answer to go
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """Checks host, token, origin, type and size; adds the headers that keep other sites out."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._token = app, checked_token(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = LARGEST.get(scope["path"], LARGEST_REQUEST)
        answer = (
            self._refusal(scope, headers)
            or foreign(scope, headers)
            or wrong_type(scope, headers)
            or _too_large(headers, limit)
        )
        guarded = _with_headers(send)
        if answer is not None:
            await answer(scope, receive, guarded)
            return
        body = _Body(receive, limit)
        try:
            await self._app(scope, body.receive, body.answering(scope, guarded))
        except ClientDisconnect:
            await body.refuse(scope, guarded)
        except TimeoutError:  # the caller does not read the answer: nobody is there to refuse
            return
        except asyncio.CancelledError:  # the server ends, and this took longer than it can wait
            if not body.begun:
                await problem(503, "the server is ending")(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if self._token is None:
            # Another site's name that resolves to this machine must not reach the library.
            own = LOOPBACK.fullmatch(headers.get("host", ""))
            return None if own else problem(403, "call this server by localhost")
        if scope["path"] in OPEN or scope["path"].startswith(PROOF):
            return None
        if is_token(sent_token(headers), self._token):
            return None
        asked = token_in_link(scope["query_string"])
        if scope["path"] == "/" and is_token(asked, self._token):
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(COOKIE, quoted(asked), httponly=True, samesite="strict")
            return answer
        refused = problem(401, "a token is needed: Authorization: Bearer TOKEN, or /?token=TOKEN")
        refused.headers["WWW-Authenticate"] = "Bearer"
        return refused


def _too_large(headers: Headers, limit: int) -> Response | None:
    length = headers.get("content-length", "0")
    too_long = length.isdecimal() and int(length) > limit
    return problem(413, LARGE.format(limit)) if too_long else None


class _Body:
    """A request's body up to a limit; past it, whatever the app answers becomes a refusal."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._limit, self._taken, self._answered = receive, limit, 0, False
        self._until = asyncio.get_running_loop().time() + BODY
        self._whole = False
        self.begun = False  # whether an answer is on its way
        self._refusal: Response | None = None

    async def receive(self) -> Message:
        """The next piece; none after the limit of size or time."""
        if self._whole:  # what comes now is only that the caller leaves
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            self._refusal = problem(408, f"the request took longer than {BODY:g} seconds to come")
            return {"type": "http.disconnect"}
        self._taken += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._taken <= self._limit:
            return message
        self._refusal = problem(413, LARGE.format(self._limit))
        return {"type": "http.disconnect"}

    def answering(self, scope: Scope, send: Send) -> Send:
        """Send on what the app answers, unless the body was too long or too slow."""

        async def sending(message: Message) -> None:
            self.begun = True
            if self._refusal is None:
                async with asyncio.timeout(ANSWER):
                    await send(message)
            else:
                await self.refuse(scope, send)

        return sending

    async def refuse(self, scope: Scope, send: Send) -> None:
        """Say once what was wrong with the body; to a caller who simply left, nothing."""
        if self._refusal is not None and not self._answered:
            self._answered = True
            await self._refusal(scope, self._receive, send)


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return adding
