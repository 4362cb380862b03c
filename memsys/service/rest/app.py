"""The memory operations as a FastAPI application."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, HTTPException, Query, Security
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.security import APIKeyHeader, HTTPBearer
from jinja2 import Environment

from memsys.core.errors import InputError
from memsys.service.memory import Memory
from memsys.service.owners import Owner
from memsys.service.rest import schemas
from memsys.service.rest.access import AccessControl, AccessPolicy
from memsys.service.rest.failures import documented, install, refuse_unknown
from memsys.service.rest.schemas import page
from memsys.service.results import MemoryChange, MemoryContext, MemoryRecord

_ABOUT = (
    "Memories are separate by owner: at least one of user_id, agent_id and run_id is required. "
    "Errors are JSON of the schema Error."
)
_PAGE = Path(__file__).with_name("docs.html.j2").read_text(encoding="utf-8")
MemoryId = Annotated[str, InPath(pattern="^[0-9a-f]{32}$", description="of a memory")]
T = TypeVar("T")
_NOBODY = "0" * 32  # an id of no memory
OwnerQuery = Annotated[str | None, Query(min_length=1, max_length=256)]


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
            Depends(refuse_unknown),
            *(Security(one) for one in keys if policy.key is not None),
        ],
    )
    app.add_middleware(AccessControl, policy=policy)
    install(app)
    _one(app, memory)
    _many(app, memory)

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


def _many(app: FastAPI, memory: Memory) -> None:
    @app.post(
        "/memories", status_code=201, response_model=schemas.Changes, responses=documented(409, 502)
    )
    def add(body: schemas.AddRequest) -> dict[str, Any]:
        """Store a text or messages. infer=true lets a model extract facts (409 without one)."""
        added = memory.add(**body.model_dump())
        return {"results": added.changes, "relations": added.relations, "faults": added.faults}

    @app.get("/memories", response_model=schemas.Memories, responses=documented())
    def get_all(
        user_id: OwnerQuery = None,
        agent_id: OwnerQuery = None,
        run_id: OwnerQuery = None,
        limit: Annotated[int, Query(ge=1, le=schemas.PAGE_MOST)] = 100,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    ) -> dict[str, Any]:
        """List the memories of an owner, oldest first."""
        found = memory.get_all(
            user_id=user_id, agent_id=agent_id, run_id=run_id, limit=limit, offset=offset
        )
        return page(found, "limit")

    @app.delete("/memories", response_model=schemas.Changes, responses=documented())
    def delete_all(
        user_id: OwnerQuery = None,
        agent_id: OwnerQuery = None,
        run_id: OwnerQuery = None,
        all: bool = False,  # noqa: A002 - the name in the address
    ) -> dict[str, Any]:
        """Delete all memories of an owner, or of every owner (all=true); their history remains."""
        _check_bulk(Owner(user_id, agent_id, run_id), all)
        deleted = memory.delete_all(user_id=user_id, agent_id=agent_id, run_id=run_id, all=all)
        return {"results": deleted}

    @app.post("/search", response_model=schemas.Results, responses=documented(409, 502))
    def search(body: schemas.SearchRequest) -> dict[str, Any]:
        """Find the best memories of an owner for a query, and beside them the relations that a
        model wrote (enable_graph=true: 409 if there are none).
        """
        return page(memory.search(**body.model_dump()), "top_k")

    @app.post("/context", responses=documented(409, 502))
    def context(body: schemas.ContextRequest) -> MemoryContext:
        """Find the best memories of an owner for a query, and the relations beside them, as text
        for a model: as much as fits the budget of tokens.
        """
        written = memory.context(**body.model_dump())
        schemas.check_size(written.results, "top_k")
        return written

    @app.post("/reset", response_model=schemas.Done, responses=documented())
    def reset(body: schemas.ResetRequest | None = None) -> dict[str, Any]:
        """Delete everything of an owner, or of every owner (all=true, or no body), including the
        history.
        """
        if body is None:
            body = schemas.ResetRequest(all=True)
        owner = Owner(body.user_id, body.agent_id, body.run_id)
        _check_bulk(owner, body.all)
        memory.reset(all=body.all, **asdict(owner))
        of = ", ".join(f"{name}={value}" for name, value in owner.named.items())
        return {"message": f"everything{of and ' of '}{of} is deleted"}

    @app.post("/compact", response_model=schemas.Done, responses=documented())
    def compact() -> dict[str, Any]:
        """Write all files anew, so that none contains what was deleted."""
        left = memory.compact()
        others = f", but not those of the {' and '.join(left)} on a server" if left else ""
        return {"message": f"all files are written anew{others}"}


def _one(app: FastAPI, memory: Memory) -> None:
    @app.get("/memories/{id}", responses=documented(404))
    def get(id: MemoryId) -> MemoryRecord:  # noqa: A002 - the name in the address
        """Return one memory."""
        return _there(memory.get(id))

    @app.put("/memories/{id}", responses=documented(404, 502))
    def update(id: MemoryId, body: schemas.UpdateRequest) -> MemoryChange:  # noqa: A002
        """Change text, metadata, time, title or event time of a memory."""
        return _there(memory.update(id, **body.model_dump()))

    @app.delete("/memories/{id}", responses=documented(404))
    def delete(id: MemoryId, history: bool = True) -> MemoryChange:  # noqa: A002
        """Delete one memory; its history remains, except with history=false."""
        return _there(memory.delete(id, history=history))

    @app.get("/memories/{id}/history", responses=documented(404))
    def history(id: MemoryId) -> list[MemoryChange]:  # noqa: A002
        """List every change of a memory, oldest first."""
        return _there(memory.history(id) or None)


def _check_bulk(owner: Owner, everyone: bool) -> None:
    """Refuse an operation on many memories that names neither an owner nor all, or both."""
    try:
        owner.check_bulk(everyone)
    except InputError as error:
        raise HTTPException(400, str(error)) from None


def _there(found: T | None) -> T:
    if found is None:
        raise HTTPException(404, "there is no such memory")
    return found
