"""Routes for browsing a library without a query."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from deixis.search.browse.browsing import Order
from deixis.search.query.filters import optional_filter
from deixis.serve.library_schemas import (
    BrowsedBody,
    BrowseResponse,
    ExamplesResponse,
    HeadingBody,
)
from deixis.serve.limits.waiting import answer_of
from deixis.serve.schemas import MOST_HITS, Where
from deixis.serve.served_library import BrowseRequest
from deixis.serve.state import state_of

router = APIRouter()
FARTHEST = 2**31


@router.get("/v1/pictures")
async def pictures(
    request: Request,
    order: Annotated[Order, Query(description="Newest first under months, or folders.")] = "newest",
    start: Annotated[int, Query(ge=0, le=FARTHEST)] = 0,
    count: Annotated[int, Query(ge=1, le=MOST_HITS)] = 60,
    where: Annotated[Where, Query()] = None,
) -> BrowseResponse:
    """Look through the library; the first answer brings the headings with their counts."""
    asked = BrowseRequest(order, start, count, optional_filter(where))
    found = await answer_of(
        request, state_of(request).worker.call(lambda library: library.browse(asked))
    )
    shown = [
        BrowsedBody(
            id=one.id,
            paths=[one.path],
            width=one.size and one.size[0],
            height=one.size and one.size[1],
            changed=one.changed,
            heading=one.heading,
        )
        for one in found.pictures
    ]
    headings = [HeadingBody(name=one.name, count=one.count) for one in found.headings]
    return BrowseResponse(pictures=shown, headings=headings)


@router.get("/v1/examples")
async def examples(request: Request) -> ExamplesResponse:
    """Queries that find something here: of the library's captions, labels or common things."""
    found = await answer_of(
        request, state_of(request).worker.call(lambda library: library.examples())
    )
    return ExamplesResponse(examples=list(found))
