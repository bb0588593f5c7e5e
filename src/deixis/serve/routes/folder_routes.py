"""Routes that add folders to the library while it is served."""

from dataclasses import asdict

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException

from deixis.serve.indexing_job import IndexingJob
from deixis.serve.library_schemas import FolderRequest, IndexingResponse
from deixis.serve.limits.waiting import answer_of
from deixis.serve.state import state_of

router = APIRouter()


@router.get("/v1/indexing")
async def indexing(request: Request) -> IndexingResponse:
    """How far the folder is that was last added here, and which files had problems."""
    return _described(_job(request))


@router.post("/v1/indexing")
async def begin(request: Request, asked: FolderRequest) -> IndexingResponse:
    """Add a folder, or go on with one; pictures can be found as they are written."""
    job, worker = _job(request), state_of(request).worker
    encoder = await answer_of(request, worker.call(lambda library: library.encoder))
    job.begin(asked.folder, lambda: encoder)
    return _described(job)


@router.post("/v1/indexing/pause")
async def pause(request: Request) -> IndexingResponse:
    """End the pass after the files it is at; adding the same folder again goes on."""
    job = _job(request)
    job.pause()
    return _described(job)


def _job(request: Request) -> IndexingJob:
    job = state_of(request).indexing
    if job is None:
        raise HTTPException(
            403, "folders are not added through this server; on its machine: deixis index FOLDER"
        )
    return job


def _described(job: IndexingJob) -> IndexingResponse:
    return IndexingResponse(**asdict(job.progress))
