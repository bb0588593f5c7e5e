"""What stands before every request: who may ask, how much, and what a browser may do with it."""

import secrets
from collections.abc import Awaitable, Callable
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deixis.serve.problems import problem

LARGEST_REQUEST, LARGEST_PICTURE = 1_000_000, 32_000_000
LARGE = "the request is larger than {:,} bytes"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
OPEN = frozenset({"/healthz", "/readyz"})  # what a supervisor asks, it asks without a token
COOKIE = "deixis_token"
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
    """Checks host, token and size, and adds the headers that keep other sites out."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = LARGEST_PICTURE if scope["path"] == "/v1/search/picture" else LARGEST_REQUEST
        answer = self._refusal(scope, headers) or _too_large(headers, limit)
        guarded = _with_headers(send)
        if answer is not None:
            await answer(scope, receive, guarded)
            return
        body = _Body(receive, limit)
        try:
            await self._app(scope, body.receive, body.answering(scope, guarded))
        except ClientDisconnect:
            await body.answering(scope, guarded)({})

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if self._token is None:
            # Another site's name that resolves to this machine must not reach the library.
            host = headers.get("host", "").rsplit(":", 1)[0] if headers.get("host") else ""
            return None if host in LOOPBACK else problem(403, "call this server by localhost")
        if scope["path"] in OPEN or self._is_token(_sent_token(headers)):
            return None
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and self._is_token(asked):
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(COOKIE, asked, httponly=True, samesite="strict")
            return answer
        refused = problem(401, "a token is needed: Authorization: Bearer TOKEN, or /?token=TOKEN")
        refused.headers["WWW-Authenticate"] = "Bearer"
        return refused

    def _is_token(self, sent: str) -> bool:
        return secrets.compare_digest(sent.encode(), (self._token or "").encode())


def _sent_token(headers: Headers) -> str:
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    return found.value if found else ""


def _too_large(headers: Headers, limit: int) -> Response | None:
    length = headers.get("content-length", "0")
    too_long = length.isdecimal() and int(length) > limit
    return problem(413, LARGE.format(limit)) if too_long else None


class _Body:
    """A request's body up to a limit; past it, whatever the app answers becomes a refusal."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._limit, self._taken, self._told = receive, limit, 0, False

    async def receive(self) -> Message:
        """The next piece; none after the limit."""
        message = await self._receive()
        self._taken += len(message.get("body", b""))
        return message if self._taken <= self._limit else {"type": "http.disconnect"}

    def answering(self, scope: Scope, send: Send) -> Send:
        """Send on what the app answers, unless the body was too long."""

        async def sending(message: Message) -> None:
            if self._taken <= self._limit:
                await send(message)
            elif not self._told:
                self._told = True
                await problem(413, LARGE.format(self._limit))(scope, self._receive, send)

        return sending


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return adding
