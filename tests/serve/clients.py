"""Many clients of one server in a process of their own: `python clients.py URL COUNT SECONDS`.

In the server's process they would fight it for the interpreter; a full HTTP library costs more time
a request than the server does. Either way one would measure the clients.
"""

import asyncio
import json
import sys
import time
from urllib.parse import quote, urlsplit

Answers = list[tuple[int, float]]


async def ask(url: str, number: int, until: float, answers: Answers) -> None:
    """Ask again and again over one connection; when asked to come back, do so."""
    place = urlsplit(url)
    path = f"/v1/search?k=24&text={quote(f'client {number}')}"
    request = f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    while time.monotonic() < until:
        started = time.monotonic()
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        await reader.readexactly(int(fields["content-length"]))
        status = int(head.split()[1])
        answers.append((status, time.monotonic() - started))
        if status == 503:
            await asyncio.sleep(int(fields["retry-after"]))
    writer.close()


async def main(url: str, count: int, seconds: float) -> None:
    answers: Answers = []
    until = time.monotonic() + seconds
    await asyncio.gather(*(ask(url, number, until, answers) for number in range(count)))
    print(json.dumps(answers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
