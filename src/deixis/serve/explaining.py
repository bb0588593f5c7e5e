"""The route that says why a picture was found."""

import asyncio
from pathlib import Path

from fastapi import APIRouter, Request

from deixis.errors import SearchError
from deixis.search.matching import RunEncoder
from deixis.serve.schemas import ExplainRequest, ExplainResponse, WordShare
from deixis.serve.state import state_of
from deixis.serve.worker import Opened

router = APIRouter()


@router.post("/v1/explain")
async def explain(request: Request, asked: ExplainRequest) -> ExplainResponse:
    """Share a score out among the words of a query and the regions of a picture."""
    state = state_of(request)
    path = await asyncio.to_thread(state.pictures.path, asked.id)
    work = state.worker.call(lambda opened: _explained(opened, asked, path))
    return await asyncio.wrap_future(work)


def _explained(opened: Opened, asked: ExplainRequest, path: Path) -> ExplainResponse:
    from deixis.explain.removal import explain as removal  # noqa: PLC0415  torch comes with it

    if not isinstance(opened.encoder, RunEncoder):
        raise SearchError("this model cannot be asked why")
    found = removal(opened.encoder.matcher, asked.text, path)
    shares = zip(found.spans, found.words.tolist(), found.together.tolist(), strict=True)
    return ExplainResponse(
        score=found.score,
        words=[
            WordShare(start_char=start, end_char=end, share=share, regions=regions)
            for (start, end), share, regions in shares
        ],
        boxes=found.boxes[:, :4].tolist(),
        regions=found.regions.tolist(),
        drop=found.drop,
    )
