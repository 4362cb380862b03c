"""The memory operations as a FastAPI application."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Path, Query, Security
from fastapi.responses import HTMLResponse
from fastapi.security import APIKeyHeader, HTTPBearer

from memsys.service.memory import Memory
from memsys.service.rest import schemas
from memsys.service.rest.access import AccessControl, AccessPolicy
from memsys.service.rest.failures import documented, install

_ABOUT = (
    "Memories are separate by owner: at least one of user_id, agent_id and run_id is required. "
    "Errors are JSON of the schema Error."
)
_PAGE = Template(files(__package__).joinpath("docs.html").read_text(encoding="utf-8"))
MemoryId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="of a memory")]
OwnerQuery = Annotated[str | None, Query(min_length=1, max_length=256)]


def _owner(
    user_id: OwnerQuery = None, agent_id: OwnerQuery = None, run_id: OwnerQuery = None
) -> dict[str, str | None]:
    return {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}


OwnerIds = Annotated[dict[str, Any], Depends(_owner)]


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
        dependencies=[Security(one) for one in keys] if policy.key is not None else [],
    )
    app.add_middleware(AccessControl, policy=policy)
    install(app)
    _one(app, memory)
    _many(app, memory)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        """Show the OpenAPI document as a page."""
        return HTMLResponse(_page(app.openapi()))

    return app


def _many(app: FastAPI, memory: Memory) -> None:
    @app.post(
        "/memories", status_code=201, response_model=schemas.Changes, responses=documented(409, 502)
    )
    def add(body: schemas.AddRequest) -> dict[str, Any]:
        """Store a text or messages. infer=true lets a model extract facts (409 without one)."""
        if body.infer and not memory.can_infer:
            raise HTTPException(409, "infer: this server has no model to write facts with")
        added = memory.add(**body.model_dump())
        return {"results": [one.as_json() for one in added.changes], "faults": added.faults}

    @app.get("/memories", response_model=schemas.Memories, responses=documented())
    def get_all(
        owner: OwnerIds,
        limit: Annotated[int, Query(ge=1, le=schemas.PAGE_MOST)] = 100,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    ) -> dict[str, Any]:
        """List the memories of an owner, oldest first."""
        found = memory.get_all(**owner, limit=limit, offset=offset)
        return {"results": [one.as_json() for one in found]}

    @app.delete("/memories", response_model=schemas.Changes, responses=documented())
    def delete_all(owner: OwnerIds) -> dict[str, Any]:
        """Delete all memories of an owner; their history remains."""
        return {"results": [one.as_json() for one in memory.delete_all(**owner)]}

    @app.post("/search", response_model=schemas.Results, responses=documented(502))
    def search(body: schemas.SearchRequest) -> dict[str, Any]:
        """Find the best memories of an owner for a query."""
        results = [
            {**one.record.as_json(), "score": one.score, "relevance": one.relevance}
            for one in memory.search(**body.model_dump())
        ]
        return {"results": results}

    @app.post("/reset", response_model=schemas.Done, responses=documented())
    def reset() -> dict[str, Any]:
        """Delete everything of every owner, including the history."""
        memory.reset()
        return {"message": "everything is deleted"}


def _one(app: FastAPI, memory: Memory) -> None:
    @app.get("/memories/{id}", response_model=schemas.MemoryOut, responses=documented(404))
    def get(id: MemoryId) -> dict[str, Any]:  # noqa: A002 - the name in the address
        """Return one memory."""
        return _there(memory.get(id)).as_json()  # type: ignore[no-any-return]

    @app.put("/memories/{id}", response_model=schemas.ChangeOut, responses=documented(404, 502))
    def update(id: MemoryId, body: schemas.UpdateRequest) -> dict[str, Any]:  # noqa: A002
        """Change text, metadata or time of a memory."""
        return _there(memory.update(id, **body.model_dump())).as_json()  # type: ignore[no-any-return]

    @app.delete("/memories/{id}", response_model=schemas.ChangeOut, responses=documented(404))
    def delete(id: MemoryId) -> dict[str, Any]:  # noqa: A002
        """Delete one memory; its history remains."""
        return _there(memory.delete(id)).as_json()  # type: ignore[no-any-return]

    @app.get("/memories/{id}/history", response_model=schemas.Changes, responses=documented(404))
    def history(id: MemoryId) -> dict[str, Any]:  # noqa: A002
        """List every change of a memory, oldest first."""
        changes = _there(memory.history(id) or None)
        return {"results": [one.as_json() for one in changes]}


def _there(found: Any) -> Any:
    if found is None:
        raise HTTPException(404, "there is no such memory")
    return found


def _page(document: Mapping[str, Any]) -> str:
    """Return an OpenAPI `document` as HTML that needs no network and no script."""
    info, operations, schemas = document["info"], [], []
    for path, methods in document["paths"].items():
        operations += [_operation(name.upper(), path, one) for name, one in methods.items()]
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        shown = escape(json.dumps(schema, indent=1, ensure_ascii=False))
        schemas.append(f'<h2 id="{escape(name)}">{escape(name)}</h2><pre>{shown}</pre>')
    return _PAGE.substitute(
        title=escape(info["title"]),
        version=escape(info["version"]),
        about=escape(info.get("description", "")),
        operations="\n".join(operations),
        schemas="\n".join(schemas),
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    rows = [
        (f"{one['name']} ({one['in']})", "required" if one.get("required") else "optional")
        for one in operation.get("parameters", ())
    ]
    if "requestBody" in operation:
        rows.append(("body", _link(operation["requestBody"]["content"])))
    for status, answer in operation["responses"].items():
        rows.append((status, f"{escape(answer['description'])} {_link(answer.get('content', {}))}"))
    table = "".join(f"<tr><th>{escape(name)}<td>{value}" for name, value in rows)
    text = escape(operation.get("description") or operation.get("summary", ""))
    return f"<h2><code>{method} {escape(path)}</code></h2><p>{text}</p><table>{table}</table>"


def _link(content: Mapping[str, Any]) -> str:
    schema = content.get("application/json", {}).get("schema", {})
    name = escape(str(schema.get("$ref", "")).rpartition("/")[2])
    return f'<a href="#{name}">{name}</a>' if name else ""
