"""The route that explains why a picture was found."""

import asyncio

from fastapi import APIRouter, Request

from deixis.explanation.attribution import Explanation
from deixis.explanation.attribution import explain as share_out
from deixis.features.store.image_files import PictureBytes
from deixis.search.query.encode_queries import EncodedQuery
from deixis.serve.decoding.decode_pool import PictureForm
from deixis.serve.limits.waiting import answer_of
from deixis.serve.schemas import ExplainRequest, ExplainResponse
from deixis.serve.served_library import OpenedLibrary
from deixis.serve.state import state_of

router = APIRouter()


@router.post("/v1/explain")
async def explain(request: Request, asked: ExplainRequest) -> ExplainResponse:
    """Attribute a score to the words and strokes of a query and the places of a picture."""
    state, query = state_of(request), asked.query()
    found = await asyncio.to_thread(state.pictures.picture, asked.id)
    opened = await answer_of(request, state.decoder.open(found.content, PictureForm()))
    picture = PictureBytes("the picture", opened, found.path)
    encoder = await answer_of(request, state.worker.call(lambda library: library.encoder))
    task = state.explanations.call(lambda check: share_out(encoder, query, picture, check))
    explanation = await answer_of(request, task.done, task.leave)
    return await answer_of(
        request, state.worker.call(lambda library: _ranked(library, explanation, asked.id))
    )


def _ranked(opened: OpenedLibrary, found: Explanation, id: str) -> ExplainResponse:
    text = found.query.text
    return ExplainResponse(
        **found.to_dict(),
        rank=opened.searcher.rank(found.query, id),
        text_rank=None if text is None else opened.searcher.rank(EncodedQuery(text), id),
    )
