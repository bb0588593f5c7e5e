"""The server: one library, its interface for programs, its page for people."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.staticfiles import StaticFiles
from starlette.responses import FileResponse, Response

from deixis import __version__
from deixis.search.encoder import Encoder
from deixis.search.opening import open_run
from deixis.search.searcher import Engine
from deixis.serve.explaining import router as explaining
from deixis.serve.guard import Guard
from deixis.serve.metrics import Measured, Metrics
from deixis.serve.pictures import Pictures
from deixis.serve.problems import handle_problems, problem
from deixis.serve.schemas import LibraryResponse, Problem
from deixis.serve.searching import router as searching
from deixis.serve.state import State, state_of
from deixis.serve.worker import LINE, Opened, Worker

UI = Path(__file__).parent / "ui"
LABELS = 60  # offered as filters

about = APIRouter()


def create_app(
    library: Path,
    token: str | None = None,
    load: Callable[[str], Encoder] = open_run,
    line: int = LINE,
    engine: Engine = "exact",
) -> FastAPI:
    """Serve a library; without a token only for this machine."""
    metrics = Metrics()
    worker = Worker(library, load, metrics.batches.observe, line, engine)
    metrics.watch_line(lambda: worker.waiting)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        worker.start()
        yield
        await asyncio.to_thread(worker.stop)

    app = FastAPI(
        title="deixis",
        version=__version__,
        summary="Search pictures by words, by pointing and by other pictures.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses={"4XX": _documented("What was wrong with the request."), "503": _BUSY},
    )
    app.state.deixis = State(worker, Pictures(library), metrics)
    handle_problems(app)
    app.add_middleware(Measured, metrics=metrics)
    app.add_middleware(Guard, token=token)
    for router in (searching, explaining, about):
        app.include_router(router)
    app.mount("/ui", StaticFiles(directory=UI), name="ui")
    return app


@about.get("/v1/library")
async def library(request: Request) -> LibraryResponse:
    """What can be searched, and with what."""
    return await asyncio.wrap_future(state_of(request).worker.call(_described))


@about.get("/healthz", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
async def healthz() -> Response:
    """Whether the process runs."""
    return Response("ok\n", media_type="text/plain")


@about.get("/readyz", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
async def readyz(request: Request) -> Response:
    """Whether the model is loaded and searches are answered."""
    if not state_of(request).worker.ready.is_set():
        return problem(503, "the model is still being loaded")
    return Response("ready\n", media_type="text/plain")


@about.get("/metrics", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
async def metrics(request: Request) -> Response:
    """Counters and timings for Prometheus."""
    return Response(state_of(request).metrics.text(), media_type="text/plain; version=0.0.4")


@about.get("/", include_in_schema=False)
async def page() -> FileResponse:
    """The search box."""
    return FileResponse(UI / "index.html", headers={"Cache-Control": "no-cache"})


def _described(opened: Opened) -> LibraryResponse:
    manifest = opened.library.generation.manifest
    return LibraryResponse(
        pictures=len(manifest.live()),
        folders=manifest.roots(),
        model=opened.library.header.model[:12],
        reads_traces=opened.encoder.reads_traces,
        labels=[label for label, _ in manifest.facts.labels(LABELS)],
    )


def _documented(description: str) -> dict[str, object]:
    schema = {"application/problem+json": {"schema": Problem.model_json_schema()}}
    return {"description": description, "content": schema}


_BUSY = {
    **_documented("Too many requests are waiting."),
    "headers": {"Retry-After": {"schema": {"type": "integer"}}},
}
