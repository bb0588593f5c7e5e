"""A typed Python client of a server: the same searches as on its page."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from deixis.errors import SearchError
from deixis.features.store.image_files import PictureBytes, opened
from deixis.features.store.picture_formats import PICTURE_TYPES
from deixis.files import parse_json
from deixis.search.places.named_places import Points, drawing_at
from deixis.search.query.filters import optional_filter
from deixis.search.query.query import Hit, Note, Query, Results

PATIENCE = 60.0  # seconds
LARGEST = 100_000_000  # bytes of an answer that are read


@dataclass(frozen=True, slots=True)
class ServerLibrary:
    """What can be searched on a server, and with what."""

    pictures: int
    folders: tuple[str, ...]
    model: str
    reads_traces: bool
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordAdded:
    """What some characters of the text add to a picture's score."""

    start_char: int
    end_char: int
    share: float


@dataclass(frozen=True, slots=True)
class PhrasePlaced:
    """Where a phrase of the text would be in a picture; the map does not say whether it is."""

    start_char: int | None  # None for something unnamed
    end_char: int | None
    share: float | None  # what pointing at it adds, if somebody did
    cells: tuple[float, ...]  # a share per cell of 9 x 9, row by row; the sum is 1


@dataclass(frozen=True, slots=True)
class HitExplained:
    """Why a picture was found: its score, its place, and what each word and stroke adds."""

    score: float
    rank: int | None
    words: tuple[WordAdded, ...]
    strokes: tuple[float, ...]
    phrases: tuple[PhrasePlaced, ...] = ()  # by models that can be pointed at
    pointing_game: float | None = None  # percent of such maps that are right, if measured


class Client:
    """Asks the HTTP interface of ``deixis serve``.

    ```python
    client = deixis.Client("http://127.0.0.1:8420")
    for hit in client.search("a dog in the snow", points={"a dog": (0.2, 0.7)}).hits:
        print(hit.score, hit.paths[0])
    ```
    """

    def __init__(self, url: str, token: str | None = None, seconds: float = PATIENCE) -> None:
        if not url.startswith(("http://", "https://")):
            raise SearchError(f"'{url}' is not the address of a server; give http://HOST:PORT")
        self._url, self._token, self._seconds = url.rstrip("/"), token, seconds

    def library(self) -> ServerLibrary:
        """What the server's library holds."""
        found = self._json("GET", "/v1/library")
        names = {one.name for one in fields(ServerLibrary)}
        known = {name: value for name, value in found.items() if name in names}
        known |= {name: tuple(known[name]) for name in ("folders", "labels")}
        return ServerLibrary(**known)

    def search(
        self,
        query: str | Query,
        *,
        points: Points = (),
        k: int = 10,
        where: str | None = None,
    ) -> Results:
        """The best pictures for a text, or for a ``Query`` with its strokes or picture.

        ``points`` are places the text is about, as for ``Library.search``.
        """
        if isinstance(query, str):
            drawing = drawing_at(query, points)
            query = Query(text=query, k=k, where=optional_filter(where), drawing=drawing)
        elif points or where:
            raise SearchError("a Query already holds its strokes and filter; give them there")
        if query.image is not None:
            return self._search_picture(query)
        body = {**_body(query), "k": query.k, "where": query.where and query.where.said}
        return results_of(query, self._json("POST", "/v1/search", body))

    def similar(self, id: str, *, k: int = 10, where: str | None = None) -> Results:
        """The pictures most like one of the library."""
        path = f"/v1/images/{quote(id, safe='')}/similar"
        query = Query(image=PictureBytes(id, b""), k=k, where=optional_filter(where))
        return results_of(query, self._json("GET", path, asked={"k": k, "where": where}))

    def explain(self, query: str | Query, id: str) -> HitExplained:
        """What each word and stroke of a query adds to the score of one picture, and where."""
        query = Query(text=query) if isinstance(query, str) else query
        return _explained(self._json("POST", "/v1/explain", {**_body(query), "id": id}))

    def picture(self, id: str, size: Literal["thumbnail", "large", "original"] = "large") -> bytes:
        """A picture of the library: a small or large JPEG, or the file as it is."""
        return self._content("GET", f"/v1/images/{quote(id, safe='')}", asked={"size": size})

    def _search_picture(self, query: Query) -> Results:
        image = query.image
        if not isinstance(image, Path | PictureBytes):
            raise SearchError("give the picture as a path or as PictureBytes")
        kind = PICTURE_TYPES.get(Path(str(image)).suffix.lower(), "image/jpeg")
        with opened(image) as file:
            content = file.read()
        asked = {"k": query.k, "where": query.where and query.where.said}
        answer = self._content("POST", "/v1/search/picture", content, kind, asked)
        return results_of(query, json.loads(answer))

    def _json(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        asked: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        found = self._content(method, path, content, "application/json", asked)
        try:
            return dict(parse_json(found))
        except (ValueError, TypeError) as error:
            raise SearchError(f"{self._url} did not answer with JSON: {error}") from error

    def _content(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        kind: str = "application/json",
        asked: Mapping[str, Any] | None = None,
    ) -> bytes:
        said = urlencode({name: value for name, value in (asked or {}).items() if value})
        request = Request(f"{self._url}{path}?{said}", content, method=method)
        if content is not None:
            request.add_header("Content-Type", kind)
        if self._token is not None:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            return answer_to(request, self._seconds)
        except HTTPError as error:
            with error:
                raise SearchError(f"{self._url}: {_reason(error)}") from error
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise SearchError(f"no answer from {self._url}: {reason}") from error


def answer_to(request: Request, seconds: float) -> bytes:
    """The content of an answer; no proxy is asked and no redirection followed."""
    opener = build_opener(ProxyHandler({}), _NoRedirect())
    try:
        with opener.open(request, timeout=seconds) as answer:
            return bytes(answer.read(LARGEST))
    except HTTPException as error:  # another program has the port now
        raise URLError(f"what answers there does not speak HTTP ({error!r})") from error


class _NoRedirect(HTTPRedirectHandler):
    """An answer comes from the server that was asked, or there is none."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing."""


def results_of(query: Query, found: Mapping[str, Any]) -> Results:
    """An answer of ``/v1/search`` as the searcher gives it."""
    searched = found["searched"]
    rows, coverage = searched, None
    if isinstance(searched, dict):
        rows, coverage = searched["rows"], (searched["rows"], searched["of"])
    hits = tuple(_hit(hit) for hit in found["hits"])
    notes = tuple(Note(**note) for note in found["notes"])
    return Results(query, hits, int(rows), tuple(found["text_order"]), notes, coverage)


def _hit(hit: Mapping[str, Any]) -> Hit:
    return Hit(
        id=hit["id"],
        score=hit["score"],
        paths=tuple(hit["paths"]),
        band=hit["band"],
        text_score=hit["text_score"],
        size=None if hit["width"] is None else (hit["width"], hit["height"]),
        stack=tuple(hit["stack"]),
    )


def _explained(found: Mapping[str, Any]) -> HitExplained:
    words = (WordAdded(w["start_char"], w["end_char"], w["share"]) for w in found["words"])
    phrases = (
        PhrasePlaced(one["start_char"], one["end_char"], one["share"], tuple(one["cells"]))
        for one in found.get("phrases", ())
    )
    return HitExplained(
        found["score"],
        found["rank"],
        tuple(words),
        tuple(found["strokes"]),
        tuple(phrases),
        found.get("pointing_game"),
    )


def _body(query: Query) -> dict[str, Any]:
    """Text and drawing as they go over the wire."""
    drawing = query.drawing
    points = (
        [{"x": p.x, "y": p.y, "t": p.t if p.t == p.t else None} for p in stroke]
        for stroke in drawing.strokes
    )
    words = (
        {"utterance": word.text, "start_time": word.start, "end_time": word.end}
        for word in drawing.words
    )
    links = (
        {"start_char": link.start, "end_char": link.end, "stroke": link.stroke}
        for link in drawing.links
    )
    loose = ({"stroke": stroke} for stroke in drawing.loose)
    return {
        "text": query.text,
        "traces": list(points),
        "timed_text": list(words),
        "links": [*links, *loose],
        "trace_weight": drawing.weight,
    }


def _reason(error: HTTPError) -> str:
    """What the server said is wrong, where it said so."""
    try:
        return str(json.loads(error.read(LARGEST))["detail"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"{error.code} {error.reason}"
