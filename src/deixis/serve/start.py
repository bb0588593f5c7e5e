"""Start and stop the server, and record where other programs find it."""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from deixis.errors import SearchError
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.library_candidates import Engine
from deixis.search.query.server_client import ADDRESS, is_loopback


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where a server listens, what callers must show there, and how it recalls."""

    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = None
    engine: Engine = "exact"
    watch: bool = False  # follow the library's folders
    adding: bool = True  # let callers index folders, where only this machine can call


def run(library: Path, how: ServeOptions, on_start: Callable[[str], None]) -> None:
    """Serve a library until interrupted."""
    host, port = how.host, how.port
    if not 0 <= port <= 65535:
        raise SearchError(f"the port is {port}; give one from 0 to 65535")
    from deixis.serve.limits.access_token import checked_token, quoted  # starlette

    token = checked_token(how.token)
    if token is None and not is_loopback(host):
        raise SearchError(
            f"'{host}' can be reached by other machines; give a --token (or DEIXIS_TOKEN) that "
            "callers must show, or listen on 127.0.0.1"
        )
    LibraryStore(library).close()  # refuse a folder that is none before anything is started
    import uvicorn

    from deixis.serve.app import create_app
    from deixis.serve.followed_folders import followed_folders
    from deixis.serve.limits.bounded_log import bound_logs
    from deixis.serve.limits.bounded_protocol import (
        ENDING,
        IDLE,
        BoundedProtocol,
    )

    with _listening(host, port) as listener:
        url = _url(host, listener.getsockname()[1])
        config = uvicorn.Config(
            create_app(library, token, engine=how.engine, adding=how.adding and is_loopback(host)),
            http=BoundedProtocol,
            ws="none",
            log_level="warning",
            timeout_keep_alive=IDLE,
            timeout_graceful_shutdown=ENDING,
        )
        bound_logs()
        following = followed_folders(library) if how.watch else nullcontext()
        with _announced(library, url, token), following:
            on_start(url if token is None else f"{url}/?token={quoted(token)}")
            # The server ends in order on either signal and then raises it again, which by default
            # would end the process before the note in the library is taken away.
            if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
            uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host.strip("[]"), port))
            listener.listen(128)  # who comes before the server is up waits instead of failing
        except (OSError, TypeError, UnicodeError) as error:  # the latter of what is no host name
            why = error.strerror if isinstance(error, OSError) else error
            raise SearchError(f"cannot listen on {host}:{port}: {why}") from error
        yield listener


@contextmanager
def _announced(library: Path, url: str, token: str | None) -> Iterator[None]:
    """Leave a note in the library, readable by its owner alone, for `deixis search` to find."""
    path = library / ADDRESS
    try:
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
            json.dump({"url": url, "token": token}, file)
    except OSError:  # a library that cannot be written can be served; nobody finds it by itself
        yield
        return
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _url(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"http://{shown}:{port}"
