"""The memory operations as a FastAPI application, with the schemas of its answers."""

import json
from dataclasses import asdict
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Query, Request, Security
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.security import APIKeyHeader, HTTPBearer
from jinja2 import Environment
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.budget import BudgetReached
from memsys.service.arguments import NoModelError, Owner, OwnerError
from memsys.service.memory import Memory
from memsys.service.rest import schemas
from memsys.service.rest.access import AccessControl, AccessPolicy, Error, body_of
from memsys.service.rest.schemas import FORMS, page
from memsys.service.results import MemoryChange, MemoryContext, MemoryRecord, SearchResult

_ABOUT = (
    "Memories are separate by owner: at least one of user_id, agent_id and run_id is required. "
    "Errors are JSON of the schema Error."
)
_PAGE = Path(__file__).with_name("docs.html.j2").read_text(encoding="utf-8")
MemoryId = Annotated[str, InPath(pattern="^[0-9a-f]{32}$", description="of a memory")]
T = TypeVar("T")
_NOBODY = "0" * 32  # an id of no memory
_STATUSES = {
    OwnerError: 400,
    NoModelError: 409,
    InputError: 422,
    RequestValidationError: 422,
    LLMError: 502,
    BudgetReached: 502,
}
OwnerQuery = Annotated[str | None, Query(min_length=1, max_length=256)]


class Memories(BaseModel):
    """Memories of an owner, oldest first."""

    results: list[MemoryRecord]


class Results(BaseModel):
    """Search results, best first, the relations found with them, and the strategy's decision."""

    results: list[SearchResult]
    relations: list[dict[str, Any]] = []
    trace: dict[str, Any] = {}


class Changes(BaseModel):
    """Changes in order; after an add, also those of relations, and its faults."""

    results: list[MemoryChange]
    relations: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []


class Done(BaseModel):
    """Confirmation of an operation without a result."""

    message: str


def make_app(memory: Memory, policy: AccessPolicy) -> FastAPI:
    """Return the application over `memory`, protected by `policy`."""
    # AccessControl checks the key; these two declare it in the OpenAPI document.
    keys = APIKeyHeader(name="X-API-Key", auto_error=False), HTTPBearer(auto_error=False)
    app = FastAPI(
        title="memsys",
        version=version("memsys"),
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        dependencies=[
            Depends(_refuse_unknown),
            *(Security(scheme) for scheme in keys if policy.key is not None),
        ],
    )
    app.add_middleware(AccessControl, policy=policy)
    for kind in (HTTPException, *_STATUSES, Exception):
        app.add_exception_handler(kind, _error_response)
    _add_routes_of_one(app, memory)
    _add_routes_of_many(app, memory)

    @app.get("/", include_in_schema=False)
    def home() -> RedirectResponse:
        """Lead to the page."""
        return RedirectResponse("/docs")

    @app.get("/health", include_in_schema=False)
    def health() -> dict[str, str]:
        """Say that the server answers, and that its memories can be read; no key is needed."""
        memory.get(_NOBODY)
        return {"status": "ok"}

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        """Show the OpenAPI document as HTML that needs no network and no script."""
        page = Environment(autoescape=True).from_string(_PAGE)
        return HTMLResponse(page.render(**app.openapi(), dumps=json.dumps))

    return app


def _add_routes_of_many(app: FastAPI, memory: Memory) -> None:
    @app.post(
        "/memories",
        status_code=201,
        response_model=Changes,
        responses=_errors(409, 502),
    )
    def add(body: schemas.AddRequest) -> dict[str, Any]:
        """Store a text or messages. infer=true lets a model extract facts (409 without one)."""
        added = memory.add(**body.model_dump())
        return {"results": added.changes, "relations": added.relations, "faults": added.faults}

    @app.get("/memories", response_model=Memories, responses=_errors())
    def get_all(
        user_id: OwnerQuery = None,
        agent_id: OwnerQuery = None,
        run_id: OwnerQuery = None,
        limit: Annotated[int, Query(ge=1, le=schemas.PAGE_MOST)] = 100,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    ) -> dict[str, Any]:
        """List the memories of an owner, oldest first."""
        records = memory.get_all(
            user_id=user_id, agent_id=agent_id, run_id=run_id, limit=limit, offset=offset
        )
        return page(records, "limit")

    @app.delete("/memories", response_model=Changes, responses=_errors())
    def delete_all(
        user_id: OwnerQuery = None,
        agent_id: OwnerQuery = None,
        run_id: OwnerQuery = None,
        all: bool = False,  # noqa: A002 - the name in the address
    ) -> dict[str, Any]:
        """Delete all memories of an owner, or of every owner (all=true); their history remains."""
        deleted = memory.delete_all(user_id=user_id, agent_id=agent_id, run_id=run_id, all=all)
        return {"results": deleted}

    @app.post("/search", response_model=Results, responses=_errors(409, 502))
    def search(body: schemas.SearchRequest) -> dict[str, Any]:
        """Find the best memories of an owner for a query, and beside them the relations that a
        model wrote (enable_graph=true: 409 if there are none).
        """
        return page(memory.search(**body.model_dump()), "top_k")

    @app.post("/context", responses=_errors(409, 502))
    def context(body: schemas.ContextRequest) -> MemoryContext:
        """Find the best memories of an owner for a query, and the relations beside them, as text
        for a model: as much as fits the budget of tokens.
        """
        written = memory.context(**body.model_dump())
        schemas.check_size(written.results, "top_k")
        return written

    @app.post("/reset", response_model=Done, responses=_errors())
    def reset(body: schemas.ResetRequest | None = None) -> dict[str, Any]:
        """Delete everything of an owner, or of every owner (all=true, or no body), including the
        history.
        """
        if body is None:
            body = schemas.ResetRequest(all=True)
        owner = Owner(body.user_id, body.agent_id, body.run_id)
        memory.reset(all=body.all, **asdict(owner))
        of = ", ".join(f"{name}={value}" for name, value in owner.named.items())
        return {"message": f"everything{of and ' of '}{of} is deleted"}

    @app.post("/compact", response_model=Done, responses=_errors())
    def compact() -> dict[str, Any]:
        """Write all files anew, so that none contains what was deleted."""
        left = memory.compact()
        others = f", but not those of the {' and '.join(left)} on a server" if left else ""
        return {"message": f"all files are written anew{others}"}


def _add_routes_of_one(app: FastAPI, memory: Memory) -> None:
    @app.get("/memories/{id}", responses=_errors(404))
    def get(id: MemoryId) -> MemoryRecord:  # noqa: A002 - the name in the address
        """Return one memory."""
        return _existing(memory.get(id))

    @app.put("/memories/{id}", responses=_errors(404, 502))
    def update(id: MemoryId, body: schemas.UpdateRequest) -> MemoryChange:  # noqa: A002
        """Change text, metadata, time, title or event time of a memory."""
        return _existing(memory.update(id, **body.model_dump()))

    @app.delete("/memories/{id}", responses=_errors(404))
    def delete(id: MemoryId, history: bool = True) -> MemoryChange:  # noqa: A002
        """Delete one memory; its history remains, except with history=false."""
        return _existing(memory.delete(id, history=history))

    @app.get("/memories/{id}/history", responses=_errors(404))
    def history(id: MemoryId) -> list[MemoryChange]:  # noqa: A002
        """List every change of a memory, oldest first."""
        return _existing(memory.history(id) or None)


def _existing(value: T | None) -> T:
    if value is None:
        raise HTTPException(404, "there is no such memory")
    return value


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error responses of an operation for OpenAPI: `statuses` and the common ones."""
    every = (400, 401, 403, 408, 413, 422, 500)
    return {
        status: {"model": Error, "description": HTTPStatus(status).phrase}
        for status in sorted({*every, *statuses})
    }


async def _refuse_unknown(request: Request) -> None:
    """Refuse what an operation would ignore: query parameters that it does not have or that are
    sent twice, and a body where none is read. A misspelt owner would widen what is deleted.
    """
    route = request.scope["route"]
    aliases = {field.alias for field in route.dependant.query_params}
    names = [name for name, _ in request.query_params.multi_items()]
    wrong = [(name, "there is no such parameter here") for name in names if name not in aliases]
    wrong += [(name, "is given twice") for name in aliases if names.count(name) > 1]
    errors = [{"loc": ("query", name), "msg": reason} for name, reason in wrong]
    if route.body_field is None and await request.body():
        errors.append({"loc": ("body",), "msg": "this operation reads no body"})
    if errors:
        raise RequestValidationError(errors)


async def _error_response(request: Request, error: Exception) -> JSONResponse:
    """Return the answer to an error: JSON of one schema, without internal details."""
    status = next((n for kind, n in _STATUSES.items() if isinstance(error, kind)), 500)
    message = str(error) if status != 500 else "internal error; see the server's log"
    headers: dict[str, str] = {}
    details: list[dict[str, str]] = []
    if isinstance(error, RequestValidationError):
        # The input is not echoed: it may be long, or not encodable.
        for fault in error.errors()[:20]:
            place = ".".join(_printable(part) for part in fault["loc"] if part not in FORMS)
            details.append({"place": place, "message": _printable(fault["msg"])})
        first = f"{details[0]['place']}: {details[0]['message']}"
        message = f"the request does not match the OpenAPI document ({first})"
    elif isinstance(error, HTTPException):
        status, message, headers = error.status_code, str(error.detail), dict(error.headers or {})
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            routes = [route for route in request.app.routes if isinstance(route, Route)]
            matching = [route for route in routes if route.matches(request.scope)[0] != Match.NONE]
            methods = {name for route in matching for name in route.methods or ()}
            headers["Allow"] = ", ".join(sorted(methods))
    return JSONResponse(body_of(status, _printable(message), details), status, headers=headers)


def _printable(text: object) -> str:
    """Return `text` encodable as UTF-8, cut to 500 characters."""
    return str(text)[:500].encode("utf-8", "replace").decode()
