"""The memory operations as an application of FastAPI."""

from __future__ import annotations

from datetime import datetime
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Path, Query, Security
from fastapi.responses import HTMLResponse
from fastapi.security import APIKeyHeader, HTTPBearer

from memsys.service.memory import Memory
from memsys.service.rest import forms
from memsys.service.rest.failures import documented, install
from memsys.service.rest.guard import Door, Guard
from memsys.service.rest.page import page

_ABOUT = (
    "Memories apart by owner: user_id, agent_id, run_id, at least one of which has to be given. "
    "Failures are JSON of the schema Error."
)
MemoryId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="of a memory")]
OwnerQuery = Annotated[str | None, Query(min_length=1, max_length=256)]


def make_app(memory: Memory, door: Door) -> FastAPI:
    """The application over `memory`, behind `door`."""
    # The guard asks for the key; these two say so in the document.
    schemes: list[Any] = []
    if door.key is not None:
        schemes = [
            Security(APIKeyHeader(name="X-API-Key", auto_error=False)),
            Security(HTTPBearer(auto_error=False)),
        ]
    app = FastAPI(
        title="memsys",
        version=version("memsys"),
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        dependencies=schemes,
    )
    app.add_middleware(Guard, door=door)
    install(app)
    _one(app, memory)
    _many(app, memory)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        """The document as a page."""
        return HTMLResponse(page(app.openapi()))

    return app


def _many(app: FastAPI, memory: Memory) -> None:
    @app.post(
        "/memories", status_code=201, response_model=forms.Changes, responses=documented(409, 502)
    )
    def add(body: forms.Add) -> dict[str, Any]:
        """Remember a text or messages. infer=true lets a model write facts (409 without one)."""
        if body.infer and not memory.can_infer:
            raise HTTPException(409, "infer: this server has no model to write facts with")
        given = body.messages
        said: Any = (
            given
            if isinstance(given, str)
            else [one.model_dump(exclude_none=True) for one in given]
        )
        added = memory.add(
            said,
            **_owner(body),
            metadata=body.metadata,
            infer=body.infer,
            kind=body.kind,
            time=_time(body.time),
        )
        return {
            "results": [one.as_json() for one in added.changes],
            "faults": list(added.faults),
        }

    @app.get("/memories", response_model=forms.Memories, responses=documented())
    def get_all(
        user_id: OwnerQuery = None,
        agent_id: OwnerQuery = None,
        run_id: OwnerQuery = None,
        limit: Annotated[int, Query(ge=1, le=forms.PAGE_MOST)] = 100,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    ) -> dict[str, Any]:
        """The memories of an owner, oldest first."""
        found = memory.get_all(
            user_id=user_id, agent_id=agent_id, run_id=run_id, limit=limit, offset=offset
        )
        return {"results": [one.as_json() for one in found]}

    @app.delete("/memories", response_model=forms.Changes, responses=documented())
    def delete_all(
        user_id: OwnerQuery = None, agent_id: OwnerQuery = None, run_id: OwnerQuery = None
    ) -> dict[str, Any]:
        """Forget all memories of an owner; their history stays."""
        gone = memory.delete_all(user_id=user_id, agent_id=agent_id, run_id=run_id)
        return {"results": [one.as_json() for one in gone]}

    @app.post("/search", response_model=forms.Results, responses=documented(502))
    def search(body: forms.Search) -> dict[str, Any]:
        """The memories of an owner that are best for a query."""
        found = memory.search(
            body.query,
            **_owner(body),
            filters=body.filters,
            top_k=body.top_k,
            time=_time(body.time),
        )
        return {
            "results": [
                {**one.record.as_json(), "score": one.score, "relevance": one.relevance}
                for one in found
            ]
        }

    @app.post("/reset", response_model=forms.Done, responses=documented())
    def reset() -> dict[str, Any]:
        """Forget everything, every owner's, with the history."""
        memory.reset()
        return {"message": "everything is forgotten"}


def _one(app: FastAPI, memory: Memory) -> None:
    @app.get("/memories/{id}", response_model=forms.MemoryOut, responses=documented(404))
    def get(id: MemoryId) -> dict[str, Any]:  # noqa: A002 - the name in the address
        """One memory."""
        found = memory.get(id)
        return _there(found).as_json()  # type: ignore[no-any-return]

    @app.put("/memories/{id}", response_model=forms.ChangeOut, responses=documented(404, 502))
    def update(id: MemoryId, body: forms.Update) -> dict[str, Any]:  # noqa: A002
        """Change text, metadata or time of a memory."""
        change = memory.update(id, body.text, metadata=body.metadata, time=_time(body.time))
        return _there(change).as_json()  # type: ignore[no-any-return]

    @app.delete("/memories/{id}", response_model=forms.ChangeOut, responses=documented(404))
    def delete(id: MemoryId) -> dict[str, Any]:  # noqa: A002
        """Forget one memory; its history stays."""
        return _there(memory.delete(id)).as_json()  # type: ignore[no-any-return]

    @app.get("/memories/{id}/history", response_model=forms.Changes, responses=documented(404))
    def history(id: MemoryId) -> dict[str, Any]:  # noqa: A002
        """Every change of a memory, oldest first."""
        changes = _there(memory.history(id) or None)
        return {"results": [one.as_json() for one in changes]}


def _there(found: Any) -> Any:
    if found is None:
        raise HTTPException(404, "there is no such memory")
    return found


def _owner(body: forms.Add | forms.Search) -> dict[str, str | None]:
    return {"user_id": body.user_id, "agent_id": body.agent_id, "run_id": body.run_id}


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
