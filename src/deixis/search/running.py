"""A server that already has the library's model loaded, asked instead of loading it again."""

import json
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from deixis.search.query import Hit, Query, Results

ADDRESS = "server.json"
PATIENCE = 10.0  # seconds


def ask_running(query: Query, library: Path) -> Results | None:
    """The answer of a running server; None when there is none that can answer this query."""
    try:
        server = json.loads((library / ADDRESS).read_text(encoding="utf-8"))
        url, token = server["url"], server["token"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if query.text is None or query.strokes:
        return None
    body = {"text": query.text, "k": query.k, "where": query.where and query.where.said}
    request = Request(
        f"{url}/v1/search",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=PATIENCE) as answer:
            found = json.load(answer)
    except (URLError, OSError, ValueError):
        return None  # it has ended without a word, or is busy: search here
    hits = tuple(_hit(hit) for hit in found["hits"])
    return Results(query, hits, found["searched"], notes=tuple(found["notes"]))


def _hit(hit: dict[str, Any]) -> Hit:
    size = None if hit["width"] is None else (hit["width"], hit["height"])
    return Hit(
        hit["id"],
        hit["score"],
        tuple(hit["paths"]),
        hit["band"],
        hit["text_score"],
        size,
        tuple(hit["stack"]),
    )
