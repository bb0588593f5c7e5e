"""Uploaded pictures to search by: decoded, encoded, and forgotten except for their vectors."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request

from deixis.errors import DeixisError
from deixis.features.store.image_files import PictureBytes
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.query.encode_queries import EncodedQuery, encode_queries
from deixis.search.query.filters import Filter
from deixis.search.query.query import Query
from deixis.serve.decoding.decode_pool import PictureForm
from deixis.serve.limits.waiting import answer_of
from deixis.serve.state import ServerState

NAME = "the picture"
Encode = Callable[[SearchEncoder, Query], EncodedQuery]


@dataclass(frozen=True, slots=True)
class SentPicture:
    """An uploaded picture, how it is wanted, and its file if features are stored beside it."""

    content: bytes
    form: PictureForm
    origin: Path | None = None


def announced(request: Request, most: int) -> int:
    """How many bytes the body of a request may be."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else most


async def opened_query(
    request: Request, state: ServerState, sent: SentPicture, held: ExitStack
) -> Query:
    """A picture as a query, its pixels counted among the uploads until ``held`` is closed."""
    opened = await answer_of(request, state.decoder.open(sent.content, sent.form))
    held.enter_context(state.uploads.holding(len(opened)))
    return Query(image=PictureBytes(NAME, opened, sent.origin))


async def encoded_picture(
    request: Request, state: ServerState, encode: Encode, sent: SentPicture
) -> EncodedQuery:
    """The vectors of a picture, of whose pixels nothing is kept."""
    with ExitStack() as held:
        query = await opened_query(request, state, sent, held)
        return await encoded_beside(request, state, encode, query)


async def encoded_beside(
    request: Request, state: ServerState, encode: Encode, query: Query
) -> EncodedQuery:
    """The vectors of a query, made beside the thread that answers searches by words."""
    encoder = await answer_of(request, state.worker.call(lambda library: library.encoder))
    task = state.examples.call(lambda check: encode(encoder, query))
    return await answer_of(request, task.done, task.leave)


def encoded_alone(encoder: SearchEncoder, query: Query) -> EncodedQuery:
    """The vectors of a single query."""
    (encoded,) = encode_queries(encoder, [query])
    if isinstance(encoded, DeixisError):
        raise encoded
    return encoded


def by_picture(k: int = 10, where: Filter | None = None) -> Query:
    """A query by a picture that is encoded already: its name, without the pixels."""
    return Query(image=PictureBytes(NAME, b""), k=k, where=where)
