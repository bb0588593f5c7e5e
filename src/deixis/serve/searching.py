"""Routes that find and show pictures."""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deixis.errors import DataError, SearchError
from deixis.features.images import open_picture
from deixis.search.filters import parse_filter
from deixis.search.query import Query as Asked
from deixis.serve.pictures import Size
from deixis.serve.schemas import Id, K, SearchRequest, SearchResponse, Text, Where
from deixis.serve.state import State, state_of

router = APIRouter()
CROP_SIDE = 1024  # pixels a cropped picture is opened with at least, where it has them
FOREVER = "private, max-age=31536000, immutable"  # an id is a hash of the content
_PICTURE: dict[str, Any] = {"content": {"image/*": {}}}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/v1/search")
async def search_by_words(
    request: Request,
    text: Annotated[Text, Query()],
    k: Annotated[K, Query()] = 24,
    where: Annotated[Where, Query()] = None,
) -> SearchResponse:
    """Search by words."""
    asked = SearchRequest(text=text, k=k, where=where)
    return await _search(state_of(request), asked.query(k, where))


@router.post("/v1/search")
async def search(request: Request, asked: SearchRequest) -> SearchResponse:
    """Search by words and, where one was drawn, by a trace."""
    return await _search(state_of(request), asked.query(asked.k, asked.where))


@router.post("/v1/search/picture", openapi_extra=_UPLOAD)
async def search_by_upload(
    request: Request,
    k: Annotated[K, Query()] = 24,
    where: Annotated[Where, Query()] = None,
    crop: Annotated[
        str | None, Query(description="xmin,xmax,ymin,ymax from 0 to 1: search by this part.")
    ] = None,
) -> SearchResponse:
    """Search by a picture sent as the body, or by a part of it."""
    content = await request.body()
    if not content:
        raise HTTPException(422, "the body is empty; send the bytes of a picture")
    handle, name = tempfile.mkstemp(prefix="deixis-", suffix=".picture")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if crop is not None:
            await asyncio.to_thread(_cut, path, _box(crop))
        return await _search(state_of(request), _by_picture(path, k, where))
    except SearchError as error:
        raise SearchError(str(error).replace(str(path), "the picture")) from error
    except DataError as error:
        raise SearchError(str(error).replace(str(path), "the picture")) from error
    finally:
        path.unlink(missing_ok=True)


@router.get("/v1/images/{id}/similar")
async def search_by_id(
    request: Request,
    id: Id,
    k: Annotated[K, Query()] = 24,
    where: Annotated[Where, Query()] = None,
) -> SearchResponse:
    """Search by a picture of the library."""
    state = state_of(request)
    path = await asyncio.to_thread(state.pictures.path, id)
    return await _search(state, _by_picture(path, k, where))


@router.get("/v1/images/{id}", responses={200: _PICTURE}, response_class=Response)
async def image(request: Request, id: Id, size: Size = "thumbnail") -> Response:
    """A picture of the library, small, large or as it is."""
    content, kind = await asyncio.to_thread(state_of(request).pictures.read, id, size)
    return Response(content, media_type=kind, headers={"Cache-Control": FOREVER})


async def _search(state: State, query: Asked) -> SearchResponse:
    started = time.perf_counter()
    results = await asyncio.wrap_future(state.worker.search(query))
    return SearchResponse.of(results, time.perf_counter() - started)


def _by_picture(path: Path, k: int, where: str | None) -> Asked:
    return Asked(image=path, k=k, where=parse_filter(where) if where and where.strip() else None)


def _box(said: str) -> tuple[float, float, float, float]:
    try:
        xmin, xmax, ymin, ymax = (float(part) for part in said.split(","))
    except ValueError:
        raise HTTPException(422, "crop is four numbers: xmin,xmax,ymin,ymax") from None
    if not (0 <= xmin < xmax <= 1 and 0 <= ymin < ymax <= 1):
        raise HTTPException(422, f"crop is '{said}'; wanted 0 <= xmin < xmax <= 1, y likewise")
    return xmin, xmax, ymin, ymax


def _cut(path: Path, box: tuple[float, float, float, float]) -> None:
    """Replace a picture by a part of it."""
    picture = open_picture(path, CROP_SIDE)
    (width, height), (xmin, xmax, ymin, ymax) = picture.size, box
    left, top = int(xmin * width), int(ymin * height)
    right, bottom = max(left + 1, int(xmax * width)), max(top + 1, int(ymax * height))
    picture.crop((left, top, right, bottom)).save(path, "PNG")
