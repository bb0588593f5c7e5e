"""Starting and ending the server, and telling other programs where it is."""

import ipaddress
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from deixis.errors import SearchError
from deixis.search.library import Library
from deixis.search.running import ADDRESS
from deixis.search.searcher import Engine

NEEDS = ("fastapi", "uvicorn", "prometheus_client")


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens, what callers must show there, and how it recalls."""

    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = None
    engine: Engine = "exact"


def run(library: Path, how: Listening, on_start: Callable[[str], None]) -> None:
    """Serve a library until interrupted."""
    host, port, token = how.host, how.port, how.token
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise SearchError(f"serving needs {missing[0]}; install it with: pip install deixis[serve]")
    if token is None and not is_loopback(host):
        raise SearchError(
            f"'{host}' can be reached by other machines; give a --token (or DEIXIS_TOKEN) that "
            "callers must show, or listen on 127.0.0.1"
        )
    Library(library).close()  # refuse a folder that is none before anything is started
    import uvicorn  # noqa: PLC0415

    from deixis.serve.app import create_app  # noqa: PLC0415

    with _listening(host, port) as listener:
        url = _url(host, listener.getsockname()[1])
        config = uvicorn.Config(create_app(library, token, engine=how.engine), log_level="warning")
        with _announced(library, url, token):
            on_start(url if token is None else f"{url}/?token={token}")
            # The server ends in order on either signal and then raises it again, which by default
            # would end the process before the note in the library is taken away.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listener])


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host.strip("[]"), port))
            listener.listen(128)  # who comes before the server is up waits instead of failing
        except OSError as error:
            raise SearchError(f"cannot listen on {host}:{port}: {error.strerror}") from error
        yield listener


@contextmanager
def _announced(library: Path, url: str, token: str | None) -> Iterator[None]:
    """Leave a note in the library, readable by its owner alone, for `deixis search` to find."""
    path = library / ADDRESS
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
        json.dump({"url": url, "token": token}, file)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _url(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"http://{shown}:{port}"
