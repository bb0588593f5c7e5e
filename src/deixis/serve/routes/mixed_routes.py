"""Routes for queries of several parts: more like this, less like that."""

import asyncio
import hashlib
import time
from collections.abc import Hashable
from contextlib import ExitStack

from fastapi import APIRouter, Request

from deixis.explanation.mixed_attribution import MixedExplanation, explain_mixed
from deixis.features.store.image_files import PictureBytes
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.query.encode_queries import EncodedQuery
from deixis.search.query.filters import optional_filter
from deixis.search.query.mixed_query import MixedQuery, QueryPart
from deixis.search.query.query import Query
from deixis.serve.decoding.decode_pool import PictureForm
from deixis.serve.decoding.sent_pictures import (
    SentPicture,
    announced,
    by_picture,
    encoded_alone,
    encoded_beside,
    opened_query,
)
from deixis.serve.limits.guard import LARGEST_REQUEST
from deixis.serve.limits.waiting import answer_of
from deixis.serve.mixed_schemas import (
    MixedExplainRequest,
    MixedExplainResponse,
    MixedPart,
    MixedRequest,
    PartShare,
)
from deixis.serve.routes.search_routes import CROP_SIDE
from deixis.serve.schemas import ExplainResponse, SearchResponse
from deixis.serve.state import state_of

router = APIRouter()
Asked = tuple[Query, Hashable]  # a part as it is searched for, and what its vectors are kept by


@router.post("/v1/search/mixed")
async def search_mixed(request: Request, asked: MixedRequest) -> SearchResponse:
    """Search by words and pictures together, each wanted or unwanted by its weight."""
    started, state = time.perf_counter(), state_of(request)
    with state.uploads.holding(announced(request, LARGEST_REQUEST)):
        parts = [await _encoded_part(request, part) for part in asked.parts]
        weighed = [QueryPart(q, p.weight) for (q, _), p in zip(parts, asked.parts, strict=True)]
        query = MixedQuery(tuple(weighed), asked.k, optional_filter(asked.where))
        encoded = tuple(one for _, one in parts)
        results = await answer_of(
            request,
            state.worker.call(lambda library: library.searcher.search_mixed(query, encoded)),
        )
    return SearchResponse.of(results, time.perf_counter() - started)


@router.post("/v1/explain/mixed")
async def explain_mixture(request: Request, asked: MixedExplainRequest) -> MixedExplainResponse:
    """Attribute a score to the parts of a mixture, their words, and the places of a picture."""
    state = state_of(request)
    with ExitStack() as held:
        held.enter_context(state.uploads.holding(announced(request, LARGEST_REQUEST)))
        parts = [await _part(request, part, held) for part in asked.parts]
        weighed = [QueryPart(q, p.weight) for (q, _), p in zip(parts, asked.parts, strict=True)]
        query = MixedQuery(tuple(weighed))
        encoded = tuple([await _encoded(request, part) for part in parts])
        scaled = await answer_of(
            request, state.worker.call(lambda library: library.searcher.scaled(query, encoded))
        )
        found = await asyncio.to_thread(state.pictures.picture, asked.id)
        opened = await answer_of(request, state.decoder.open(found.content, PictureForm()))
        picture = PictureBytes("the picture", opened, found.path)
        encoder = await answer_of(request, state.worker.call(lambda library: library.encoder))
        wanted = [(one.scale, part) for one, (part, _) in zip(scaled, parts, strict=True)]
        task = state.explanations.call(lambda check: explain_mixed(encoder, wanted, picture, check))
        return _response(await answer_of(request, task.done, task.leave))


async def _encoded_part(request: Request, part: MixedPart) -> tuple[Query, EncodedQuery]:
    """A part with its vectors; the pixels of a picture are gone before the next is opened."""
    with ExitStack() as held:
        query, key = await _part(request, part, held)
        encoded = await _encoded(request, (query, key))
    return query if key is None else by_picture(), encoded


async def _part(request: Request, part: MixedPart, held: ExitStack) -> Asked:
    state = state_of(request)
    if part.words is not None:
        return part.words.query(), None
    if part.id is not None:
        found = await asyncio.to_thread(state.pictures.picture, part.id)
        content, path, key = found.content, found.path, part.id
    else:
        content, path = part.picture or b"", None
        key = hashlib.sha256(content).hexdigest()
    form = PictureForm() if part.crop is None else PictureForm(CROP_SIDE, crop=part.crop)
    # A part of a picture is not the file, whose regions may lie beside it.
    sent = SentPicture(content, form, path if part.crop is None else None)
    return await opened_query(request, state, sent, held), (key, part.crop)


async def _encoded(request: Request, part: Asked) -> EncodedQuery:
    state, (query, key) = state_of(request), part

    def encode(encoder: SearchEncoder, query: Query) -> EncodedQuery:
        if key is None:
            return encoded_alone(encoder, query)
        return state.kept_examples.of(
            (encoder.identity, key), lambda: encoded_alone(encoder, query)
        )

    return await encoded_beside(request, state, encode, query)


def _response(found: MixedExplanation) -> MixedExplainResponse:
    shares = [
        PartShare(share=share, regions=(scale * part.places).tolist())
        for share, scale, part in zip(found.shares, found.scales, found.parts, strict=True)
    ]
    words = [
        ExplainResponse(**part.to_dict(), rank=None, text_rank=None) if part.spans else None
        for part in found.parts
    ]
    return MixedExplainResponse(
        score=sum(found.shares),
        parts=shares,
        words=words,
        boxes=found.parts[0].boxes[:, :4].tolist(),
        regions=found.places.tolist(),
    )
