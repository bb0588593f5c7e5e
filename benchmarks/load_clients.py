"""Many clients of one server, in a process of their own: started by `load`, orders as JSON.

A full HTTP library costs more time per request than the server does, and in the server's process
clients would fight it for the interpreter; either way one would measure the clients.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlsplit

Kind = Literal["text", "explain", "upload"]
LONGEST = 60.0  # seconds: what is not answered by then hangs
HUNG = 0  # the status of a request that got no answer


@dataclass(frozen=True)
class Orders:
    """Who asks what, and for how long."""

    url: str
    clients: int
    seconds: float
    others: float  # the share of explanations, and again of uploads
    leave: bool  # at the end: leave at once, or wait for the last answer
    texts: list[str]
    pictures: list[str]  # JPEG files to upload


@dataclass(frozen=True)
class Answer:
    """What came back, and how long it took."""

    kind: Kind
    status: int
    seconds: float


class Connection:
    """One connection to the server, opened again when it was closed."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, kind: str, body: bytes) -> tuple[int, Any]:
        """Status and body of an answer."""
        if self._streams is None:
            host, port = self._place.hostname, self._place.port
            self._streams = await asyncio.open_connection(host, port)
        reader, writer = self._streams
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._place.netloc}\r\n"
        head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in answer.split("\r\n")[1:] if line)
        content = await reader.readexactly(int(fields["content-length"]))
        if fields.get("connection") == "close":
            self.close()
        return int(answer.split()[1]), json.loads(content)

    def close(self) -> None:
        """Leave, whatever is under way."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


class Client:
    """Asks one thing after the other; when asked to come back later, it does."""

    def __init__(self, orders: Orders, number: int, answers: list[Answer]) -> None:
        self._orders, self._answers = orders, answers
        self._chance = random.Random(number)
        self._connection = Connection(orders.url)
        self._seen: list[str] = []

    async def run(self, until: float) -> None:
        """Ask until it is time to go."""
        try:
            while time.monotonic() < until:
                kind = self._next()
                started = time.monotonic()
                status = await self._status(kind)
                self._answers.append(Answer(kind, status, time.monotonic() - started))
                if status == 503:
                    await asyncio.sleep(1)
        finally:
            self._connection.close()

    def _next(self) -> Kind:
        drawn = self._chance.random()
        if not self._seen or drawn >= 2 * self._orders.others:
            return "text"
        return "explain" if drawn < self._orders.others else "upload"

    async def _status(self, kind: Kind) -> int:
        asked = {"text": self._search, "explain": self._explain, "upload": self._upload}[kind]
        try:
            status, content = await asyncio.wait_for(asked(), LONGEST)
        except (OSError, EOFError, TimeoutError):
            self._connection.close()
            return HUNG
        if kind == "text" and status == 200:
            self._seen = [hit["id"] for hit in content["hits"]]
        return int(status)

    def _search(self) -> Awaitable[tuple[int, Any]]:
        path = f"/v1/search?k=24&text={quote(self._chance.choice(self._orders.texts))}"
        return self._connection.ask("GET", path, "application/json", b"")

    def _explain(self) -> Awaitable[tuple[int, Any]]:
        chosen = {
            "text": self._chance.choice(self._orders.texts),
            "id": self._chance.choice(self._seen),
        }
        return self._connection.ask(
            "POST", "/v1/explain", "application/json", json.dumps(chosen).encode()
        )

    def _upload(self) -> Awaitable[tuple[int, Any]]:
        content = Path(self._chance.choice(self._orders.pictures)).read_bytes()
        return self._connection.ask("POST", "/v1/search/picture?k=24", "image/jpeg", content)


async def run(orders: Orders) -> dict[str, Any]:
    """Let all clients ask at once; afterwards see how soon one more is answered."""
    answers: list[Answer] = []
    clients = [Client(orders, number, answers) for number in range(orders.clients)]
    until = time.monotonic() + orders.seconds
    asking = asyncio.gather(*(client.run(until) for client in clients), return_exceptions=True)
    if orders.leave:
        await asyncio.sleep(orders.seconds)
        asking.cancel()
    done = await asyncio.gather(asking, return_exceptions=True)
    failed = [one for each in done if isinstance(each, list) for one in each if one is not None]
    if failed:
        raise failed[0]
    return {"answers": [vars(one) for one in answers], "recovery": await _recovery(orders)}


async def _recovery(orders: Orders) -> float:
    """Seconds until a client that comes now has an answer."""
    connection, started = Connection(orders.url), time.monotonic()
    path, status = f"/v1/search?text={quote(orders.texts[0])}", HUNG
    while status != 200 and time.monotonic() - started < LONGEST:
        status, _ = await connection.ask("GET", path, "application/json", b"")
    connection.close()
    return time.monotonic() - started


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(Orders(**json.load(sys.stdin))))))
