"""Routes that find and show pictures."""

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deixis.features.trace.phrases import phrases_of
from deixis.features.words.vocabulary import word_spans
from deixis.search.query.filters import optional_filter
from deixis.search.query.query import Query as SearchQuery
from deixis.serve.decoding.decode_pool import PictureForm
from deixis.serve.decoding.sent_pictures import (
    SentPicture,
    announced,
    by_picture,
    encoded_alone,
    encoded_picture,
)
from deixis.serve.limits.guard import LARGEST_PICTURE
from deixis.serve.limits.waiting import answer_of
from deixis.serve.picture_files import Size
from deixis.serve.schemas import (
    Id,
    K,
    PhraseBody,
    PhrasesResponse,
    SearchRequest,
    SearchResponse,
    Text,
    Where,
)
from deixis.serve.state import state_of

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
    return await _search(request, asked.query(k, where))


@router.post("/v1/search")
async def search(request: Request, asked: SearchRequest) -> SearchResponse:
    """Search by words and, where one was drawn, by a trace."""
    return await _search(request, asked.query(asked.k, asked.where))


@router.get("/v1/phrases")
async def phrases(text: Annotated[Text, Query()]) -> PhrasesResponse:
    """Cut a text into the phrases one can point at."""
    spans = word_spans(text)
    return PhrasesResponse(
        phrases=[
            PhraseBody(start_char=spans[phrase.first][0], end_char=spans[phrase.last - 1][1])
            for phrase in phrases_of(text)
        ]
    )


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
    form = PictureForm() if crop is None else PictureForm(CROP_SIDE, crop=_box(crop))
    with state_of(request).uploads.holding(announced(request, LARGEST_PICTURE)):
        content = await request.body()
        if not content:
            raise HTTPException(422, "the body is empty; send the bytes of a picture")
        return await _search_like(request, SentPicture(content, form), k, where)


@router.get("/v1/images/{id}/similar")
async def search_by_id(
    request: Request,
    id: Id,
    k: Annotated[K, Query()] = 24,
    where: Annotated[Where, Query()] = None,
) -> SearchResponse:
    """Search by a picture of the library."""
    state = state_of(request)
    found = await asyncio.to_thread(state.pictures.picture, id)
    sent = SentPicture(found.content, PictureForm(), found.path)
    return await _search_like(request, sent, k, where)


@router.get("/v1/images/{id}", responses={200: _PICTURE}, response_class=Response)
async def image(request: Request, id: Id, size: Size = "thumbnail") -> Response:
    """A picture of the library, small, large or as it is."""
    content, kind = await asyncio.to_thread(state_of(request).pictures.shown, id, size)
    return Response(content, media_type=kind, headers={"Cache-Control": FOREVER})


async def _search(request: Request, query: SearchQuery) -> SearchResponse:
    started = time.perf_counter()
    done = state_of(request).worker.search(query)
    results = await answer_of(request, done)
    return SearchResponse.of(results, time.perf_counter() - started)


async def _search_like(
    request: Request, sent: SentPicture, k: int, where: str | None
) -> SearchResponse:
    """Search by a picture, encoded beside the thread that answers searches by words."""
    started, state = time.perf_counter(), state_of(request)
    query = by_picture(k, optional_filter(where))
    encoded = await encoded_picture(request, state, encoded_alone, sent)
    results = await answer_of(
        request, state.worker.call(lambda library: library.searcher.search_encoded(query, encoded))
    )
    return SearchResponse.of(results, time.perf_counter() - started)


def _box(said: str) -> tuple[float, float, float, float]:
    try:
        xmin, xmax, ymin, ymax = (float(part) for part in said.split(","))
    except ValueError:
        raise HTTPException(422, "crop is four numbers: xmin,xmax,ymin,ymax") from None
    if not (0 <= xmin < xmax <= 1 and 0 <= ymin < ymax <= 1):
        raise HTTPException(422, f"crop is '{said}'; wanted 0 <= xmin < xmax <= 1, y likewise")
    return xmin, xmax, ymin, ymax
