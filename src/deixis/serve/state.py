"""What the routes of one app share."""

from dataclasses import dataclass
from pathlib import Path

from fastapi import Request

from deixis.serve.decoding.decode_pool import DecodePool
from deixis.serve.indexing_job import IndexingJob
from deixis.serve.limits.lane import Lane
from deixis.serve.limits.upload_budget import UploadBudget
from deixis.serve.picture_files import PictureFiles
from deixis.serve.query_picture_cache import QueryPictureCache
from deixis.serve.server_metrics import Metrics
from deixis.serve.speech.recogniser import Recogniser
from deixis.serve.worker import Worker


@dataclass(frozen=True, slots=True)
class ServerState:
    """The worker that owns the model, the lanes beside it, the pictures, and what is counted."""

    worker: Worker
    examples: Lane  # pictures to search by are encoded here
    kept_examples: QueryPictureCache
    explanations: Lane
    speech: Lane  # recordings are recognised here
    recognise: Recogniser
    decoder: DecodePool
    uploads: UploadBudget
    pictures: PictureFiles
    metrics: Metrics
    indexing: IndexingJob | None  # where folders may be added
    folder: Path | None  # of the library, where it lies on this machine


def state_of(request: Request) -> ServerState:
    """The state of the app a request came to."""
    found = request.app.state.deixis
    assert isinstance(found, ServerState)
    return found
