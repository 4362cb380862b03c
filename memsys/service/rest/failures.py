"""Errors as JSON of one schema, without internal details."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.budget import BudgetReached
from memsys.service.owners import NoModelError
from memsys.service.rest.access import body_of
from memsys.service.rest.schemas import FORMS, Error

_STATUSES = {NoModelError: 409, InputError: 422, LLMError: 502, BudgetReached: 502}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error responses of an operation for OpenAPI: `statuses` and the common ones."""
    every = (400, 401, 403, 408, 413, 422, 500)
    return {
        status: {"model": Error, "description": HTTPStatus(status).phrase}
        for status in sorted({*every, *statuses})
    }


async def refuse_unknown(request: Request) -> None:
    """Refuse what an operation would ignore: query parameters that it does not have or that are
    sent twice, and a body where none is read. A misspelt owner would widen what is deleted.
    """
    route = request.scope["route"]
    known = {field.alias for field in route.dependant.query_params}
    names = [name for name, _ in request.query_params.multi_items()]
    wrong = [(name, "there is no such parameter here") for name in names if name not in known]
    wrong += [(name, "is given twice") for name in known if names.count(name) > 1]
    errors = [{"loc": ("query", name), "msg": reason} for name, reason in wrong]
    if route.body_field is None and await request.body():
        errors.append({"loc": ("body",), "msg": "this operation reads no body"})
    if errors:
        raise RequestValidationError(errors)


def install(app: FastAPI) -> None:
    """Register the error handlers of `app`."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        # The input is not echoed: it may be long, or not encodable.
        details = [
            {"place": _place(one["loc"]), "message": _printable(one["msg"])}
            for one in error.errors()[:20]
        ]
        first = f"{details[0]['place']}: {details[0]['message']}" if details else ""
        message = f"the request does not match the OpenAPI document ({first})"
        return _json(422, message, details)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_allowed(app, request))
        return _json(error.status_code, str(error.detail), headers=headers)

    for kind, status in _STATUSES.items():
        app.add_exception_handler(kind, partial(_message, status))

    @app.exception_handler(Exception)
    async def broken(_request: Request, _error: Exception) -> JSONResponse:
        return _json(500, "internal error; see the server's log")


async def _message(status: int, _: Request, error: Exception) -> JSONResponse:
    return _json(status, str(error))


def _json(
    status: int,
    message: str,
    details: Sequence[dict[str, str]] = (),
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    return JSONResponse(body_of(status, _printable(message), details), status, headers=headers)


def _place(parts: Sequence[str | int]) -> str:
    return ".".join(_printable(part) for part in parts if part not in FORMS)


def _printable(text: object) -> str:
    """Return `text` encodable as UTF-8, cut to 500 characters."""
    return str(text)[:500].encode("utf-8", "replace").decode()


def _allowed(app: FastAPI, request: Request) -> list[str]:
    routes = [route for route in app.routes if isinstance(route, Route)]
    matching = [one for one in routes if one.matches(request.scope)[0] != Match.NONE]
    return sorted({method for one in matching for method in one.methods or ()})
