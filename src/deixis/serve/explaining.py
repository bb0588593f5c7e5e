"""The route that says why a picture was found."""

import asyncio
from pathlib import Path

from fastapi import APIRouter, Request

from deixis.explain.why import explain as why
from deixis.serve.schemas import ElementMap, ExplainRequest, ExplainResponse, WordShare
from deixis.serve.state import state_of
from deixis.serve.worker import Opened

router = APIRouter()


@router.post("/v1/explain")
async def explain(request: Request, asked: ExplainRequest) -> ExplainResponse:
    """Share a score out among the words and strokes of a query and the places of a picture."""
    state = state_of(request)
    path = await asyncio.to_thread(state.pictures.path, asked.id)
    work = state.worker.call(lambda opened: _explained(opened, asked, path))
    return await asyncio.wrap_future(work)


def _explained(opened: Opened, asked: ExplainRequest, path: Path) -> ExplainResponse:
    found = why(opened.encoder, asked.query(), path)
    shares = zip(found.spans, found.words.tolist(), found.together.tolist(), strict=True)
    elements = zip(found.affinity.tolist(), found.looks.tolist(), strict=True)
    words = found.asked.words
    return ExplainResponse(
        method=found.by,
        score=found.score,
        text_score=found.text_score,
        rank=opened.searcher.rank(found.asked.whole, asked.id),
        text_rank=None if words is None else opened.searcher.rank(words, asked.id),
        words=[
            WordShare(start_char=start, end_char=end, share=share, regions=regions)
            for (start, end), share, regions in shares
        ],
        strokes=found.strokes.tolist(),
        boxes=found.boxes[:, :4].tolist(),
        regions=found.places.tolist(),
        elements=[ElementMap(affinity=one, regions=looks) for one, looks in elements],
        drop=found.drop,
    )
