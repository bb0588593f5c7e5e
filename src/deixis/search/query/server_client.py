"""A server that already has the library's model loaded, asked instead of loading it again."""

import ipaddress
import json
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deixis.files import parse_json
from deixis.search.query.query import Query, Results
from deixis.search.query.server_proof import challenge

ADDRESS = "server.json"
PATIENCE = 10.0  # seconds


def ask_running(query: Query, library: Path) -> Results | None:
    """The answer of a running server; None when there is none that can answer this query."""
    if query.text is None or query.drawing.strokes:
        return None
    server = _own_server(library)
    if server is None:
        return None
    url, token = server
    body = {"text": query.text, "k": query.k, "where": query.where and query.where.said}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    try:
        from deixis.search.client import results_of

        return results_of(query, _asked(f"{url}/v1/search", json.dumps(body).encode(), headers))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it has ended, or is busy: search here


def _own_server(library: Path) -> tuple[str, str] | None:
    """Address and token of a server that is this user's own, on this machine, for this library."""
    path = library / ADDRESS
    try:
        facts = path.lstat()
        mine = not hasattr(os, "geteuid") or facts.st_uid == os.geteuid()
        if not stat.S_ISREG(facts.st_mode) or not mine or facts.st_mode & 0o077:
            return None
        server = parse_json(path.read_text(encoding="utf-8"))
        url, token = str(server["url"]), str(server["token"])
        place = urlsplit(url)
        if place.scheme != "http" or not is_loopback(place.hostname or ""):
            return None
        with challenge(library) as (name, wanted):
            answer = _asked(f"{url}/v1/proof/{name}")
        return (url, token) if secrets.compare_digest(str(answer["proof"]), wanted) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _asked(
    address: str, content: bytes | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    from urllib.request import Request  # slow to load, and mostly no server runs

    from deixis.search.client import answer_to

    return dict(parse_json(answer_to(Request(address, content, dict(headers or {})), PATIENCE)))
