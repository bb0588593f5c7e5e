"""The server: one library, its interface for programs, its page for people."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from deixis import __version__
from deixis.errors import SearchError
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.current_generation import current_generation
from deixis.search.query.library_candidates import Engine
from deixis.search.query.server_proof import prove
from deixis.serve.decoding.decode_pool import DecodePool
from deixis.serve.indexing_job import IndexingJob
from deixis.serve.limits.access_token import checked_token
from deixis.serve.limits.guard import Guard
from deixis.serve.limits.lane import Lane
from deixis.serve.limits.upload_budget import UploadBudget
from deixis.serve.limits.waiting import LONGEST, answer_of
from deixis.serve.picture_files import PictureFiles
from deixis.serve.problem_documents import handle_problems, problem
from deixis.serve.query_picture_cache import QueryPictureCache
from deixis.serve.routes.browse_routes import router as browsing
from deixis.serve.routes.explain_routes import router as explaining
from deixis.serve.routes.folder_routes import router as folders
from deixis.serve.routes.mixed_routes import router as mixing
from deixis.serve.routes.search_routes import router as searching
from deixis.serve.routes.speech_routes import router as speaking
from deixis.serve.schemas import LibraryResponse, ProblemDocument
from deixis.serve.served_library import FolderLibrary, OpenedLibrary, ServedLibrary
from deixis.serve.server_metrics import MeasureRequests, Metrics
from deixis.serve.speech.recogniser import Recogniser, can_recognise
from deixis.serve.state import ServerState, state_of
from deixis.serve.worker import LINE, Worker

UI = Path(__file__).parent / "ui"
LABELS = 60  # offered as filters

about = APIRouter()


def create_app(
    library: Path | ServedLibrary,
    token: str | None = None,
    load: Callable[[str], SearchEncoder] = load_encoder,
    line: int = LINE,
    engine: Engine = "exact",
    adding: bool = False,
) -> FastAPI:
    """Serve a library; without a token only for this machine.

    ``adding`` lets callers index folders of this machine, whose pictures they may then see.
    """
    checked_token(token)
    metrics = Metrics()
    served = FolderLibrary(library, load, engine) if isinstance(library, Path) else library
    worker = Worker(served, metrics.batches.observe, line)
    metrics.watch(lambda: worker.waiting, lambda: worker.plain_passes)

    decoder = DecodePool()
    state = ServerState(
        worker=worker,
        examples=Lane("examples", niceness=5, line=32, seconds=15.0),
        kept_examples=QueryPictureCache(),
        explanations=Lane("explanations", niceness=10, line=8, seconds=LONGEST),
        speech=Lane("speech", niceness=5, line=4, seconds=30.0),
        recognise=Recogniser(),
        decoder=decoder,
        uploads=UploadBudget(),
        pictures=PictureFiles(served, decoder),
        metrics=metrics,
        indexing=IndexingJob(library, worker.look_again)
        if adding and isinstance(library, Path)
        else None,
        folder=library if isinstance(library, Path) else None,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        worker.start()
        yield
        lanes = (state.speech, state.explanations, state.examples)
        stops = [worker.stop, state.decoder.stop, *(lane.stop for lane in lanes)]
        stops += [] if state.indexing is None else [state.indexing.stop]
        # Together: each has some seconds, and all of them ten.
        await asyncio.gather(*map(asyncio.to_thread, stops))

    app = FastAPI(
        title="deixis",
        version=__version__,
        summary="Search pictures by words, by pointing and by other pictures.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses={"4XX": _documented("What was wrong with the request."), "503": _BUSY},
    )
    app.state.deixis = state
    handle_problems(app)
    app.add_middleware(Guard, token=token)
    app.add_middleware(MeasureRequests, metrics=metrics)  # before the guard: refusals count too
    for router in (searching, mixing, browsing, folders, explaining, speaking, about):
        app.include_router(router)
    app.mount("/ui", StaticFiles(directory=UI), name="ui")
    return app


@about.get("/v1/library")
async def library(request: Request) -> LibraryResponse:
    """What can be searched, and with what."""
    state = state_of(request)
    described = await answer_of(request, state.worker.call(_described))
    return described.model_copy(update={"adding": state.indexing is not None})


@about.get("/healthz", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
async def healthz() -> Response:
    """Whether the process runs."""
    return Response("ok\n", media_type="text/plain")


@about.get("/readyz", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
async def readyz(request: Request) -> Response:
    """Whether the model is loaded, the library is there and searches are answered."""
    state = state_of(request)
    if not state.worker.ready.is_set():
        return problem(503, "the model is still being loaded", "not_ready")
    try:
        if state.folder is not None:
            current_generation(state.folder)
    except SearchError:
        return problem(503, "the library is gone", "not_ready")
    return Response("ready\n", media_type="text/plain")


@about.get("/v1/proof/{name}", include_in_schema=False)
async def proof(request: Request, name: str) -> dict[str, str]:
    """Show that this server belongs to the user who left a secret, and serves this library."""
    folder = state_of(request).folder
    shown = None if folder is None else prove(name, folder)
    if shown is None:
        raise HTTPException(404, "there is no such challenge")
    return {"proof": shown}


@about.get("/metrics", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
async def metrics(request: Request) -> Response:
    """Counters and timings for Prometheus."""
    return Response(state_of(request).metrics.text(), media_type="text/plain; version=0.0.4")


@about.get("/", include_in_schema=False)
async def page() -> FileResponse:
    """The search box."""
    return FileResponse(UI / "index.html", headers={"Cache-Control": "no-cache"})


def _described(opened: OpenedLibrary) -> LibraryResponse:
    found = opened.facts(LABELS)
    return LibraryResponse(
        pictures=found.pictures,
        folders=list(found.folders),
        model=found.model[:12],
        reads_traces=opened.encoder.reads_traces or opened.encoder.places is not None,
        labels=list(found.labels),
        hears=can_recognise(),
        adding=False,
    )


def _documented(description: str) -> dict[str, object]:
    schema = {"application/problem+json": {"schema": ProblemDocument.model_json_schema()}}
    return {"description": description, "content": schema}


_BUSY = {
    **_documented("Too many requests are waiting."),
    "headers": {"Retry-After": {"schema": {"type": "integer"}}},
}
