"""The route that turns a recording into words with times."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from deixis.errors import DeixisError
from deixis.extras import missing
from deixis.serve.decoding.sent_pictures import announced
from deixis.serve.limits.guard import LARGEST
from deixis.serve.limits.same_origin import RECORDINGS
from deixis.serve.limits.waiting import answer_of
from deixis.serve.schemas import Utterance
from deixis.serve.speech.recogniser import can_recognise
from deixis.serve.speech.recording import read_recording
from deixis.serve.state import state_of

router = APIRouter()
_RECORDING: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"audio/wav": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class SpeechResponse(BaseModel):
    """What was said: words with their seconds from the beginning, ready for `timed_text`."""

    text: str
    timed_text: list[Utterance] = Field(description="One word each.")


@router.post("/v1/speech", openapi_extra=_RECORDING)
async def speech(request: Request) -> SpeechResponse:
    """Recognise a recording (WAV, 16 bits, at most a minute); nothing leaves this machine."""
    if not can_recognise():
        raise missing("faster_whisper", "speech")
    state = state_of(request)
    with state.uploads.holding(announced(request, LARGEST[RECORDINGS])):
        content = await request.body()
        if not content:
            raise DeixisError("the body is empty; send a WAV file")
        samples = await asyncio.to_thread(read_recording, content)
        task = state.speech.call(lambda check: state.recognise(samples))
        words = await answer_of(request, task.done, task.leave)
    said = [
        Utterance(utterance=word.text, start_time=word.start, end_time=word.end) for word in words
    ]
    return SpeechResponse(text=" ".join(word.text for word in words), timed_text=said)
