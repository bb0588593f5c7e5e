"""Errors as RFC 9457 problem documents."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from deixis.errors import DeixisError, FilterError, UnavailableError
from deixis.serve.limits.lane import GoneError
from deixis.serve.schemas import ProblemCode
from deixis.serve.worker import BusyError

CODES: dict[int, ProblemCode] = {
    401: "token_needed",
    404: "not_found",
    408: "too_slow",
    413: "too_large",
    415: "wrong_type",
    422: "invalid_request",
    500: "failed",
    503: "busy",
}


def problem(status: int, detail: str, code: ProblemCode | None = None) -> JSONResponse:
    """An error response that says what went wrong."""
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code or CODES.get(status, "refused"),
        "detail": detail,
    }
    return JSONResponse(content, status, media_type="application/problem+json")


def handle_problems(app: FastAPI) -> None:
    """Turn every error of an app into a problem document."""

    @app.exception_handler(DeixisError)
    async def refused(request: Request, error: DeixisError) -> Response:
        return problem(
            400, str(error), "invalid_filter" if isinstance(error, FilterError) else None
        )

    @app.exception_handler(UnavailableError)
    async def unavailable(request: Request, error: UnavailableError) -> Response:
        answer = problem(503, str(error))
        answer.headers["Retry-After"] = str(BusyError.seconds)
        return answer

    @app.exception_handler(BusyError)
    async def busy(request: Request, error: BusyError) -> Response:
        answer = problem(503, "too many requests are waiting; come back in a moment")
        answer.headers["Retry-After"] = str(BusyError.seconds)
        return answer

    @app.exception_handler(GoneError)
    async def gone(request: Request, error: GoneError) -> Response:
        return problem(503, "the server is ending")

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return problem(422, f"{where}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        answer = problem(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        return problem(500, "the server failed on this request; its log says why")
