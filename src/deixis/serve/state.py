"""What the routes of one app share."""

from dataclasses import dataclass

from fastapi import Request

from deixis.serve.metrics import Metrics
from deixis.serve.pictures import Pictures
from deixis.serve.worker import Worker


@dataclass(frozen=True, slots=True)
class State:
    """The worker that owns the model, the pictures, and what is counted."""

    worker: Worker
    pictures: Pictures
    metrics: Metrics


def state_of(request: Request) -> State:
    """The state of the app a request came to."""
    found = request.app.state.deixis
    assert isinstance(found, State)
    return found
