"""How a program knows that a server on this machine is the user's own.

A library is data: the address in it may have come with it from anywhere. Who asks writes a secret
into a file that only the user can read, and the server shows that it read it. A server of another
user, or a program an address from elsewhere points at, cannot.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deixis.paths import cache_folder

NAME = re.compile(r"[0-9a-f]{32}")
FOLDER = "challenges"


@contextmanager
def challenge(library: Path) -> Iterator[tuple[str, str]]:
    """The name of a secret on disk, and what a server of this library answers to it."""
    folder = cache_folder() / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name, secret = secrets.token_hex(16), secrets.token_hex(32)
    path = folder / name
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(secret)
    try:
        yield name, _answer(secret, library)
    finally:
        path.unlink(missing_ok=True)


def prove(name: str, library: Path) -> str | None:
    """What this server answers; None when there is no such secret."""
    if not NAME.fullmatch(name):
        return None
    try:
        secret = (cache_folder() / FOLDER / name).read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    return _answer(secret, library)


def _answer(secret: str, library: Path) -> str:
    return hashlib.sha256(f"{secret} {os.path.realpath(library)}".encode()).hexdigest()
