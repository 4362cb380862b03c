"""The memory operations as a FastAPI application."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from html import escape
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Path, Query, Security
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
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "h2{font-size:1.1rem;margin:2rem 0 .3rem}code,pre{background:#8882;border-radius:4px}"
    "code{padding:0 .3em}pre{padding:.6rem;overflow:auto;font-size:.85rem}:root{color-scheme:light "
    "dark}td,th{text-align:left;padding:.1rem .8rem .1rem 0;vertical-align:top}"
)
MemoryId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="of a memory")]
OwnerQuery = Annotated[str | None, Query(min_length=1, max_length=256)]


def make_app(memory: Memory, policy: AccessPolicy) -> FastAPI:
    """Return the application over `memory`, protected by `policy`."""
    # AccessControl checks the key; these two declare it in the OpenAPI document.
    schemes: list[Any] = []
    if policy.key is not None:
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
        messages: Any = body.messages
        if not isinstance(messages, str):
            messages = [one.model_dump(exclude_none=True) for one in messages]
        added = memory.add(
            messages,
            **_owner(body),
            metadata=body.metadata,
            infer=body.infer,
            kind=body.kind,
            time=_time(body.time),
        )
        return {
            "results": [one.as_json() for one in added.changes],
            "faults": added.faults,
        }

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
        return {"results": [one.as_json() for one in found]}

    @app.delete("/memories", response_model=schemas.Changes, responses=documented())
    def delete_all(
        user_id: OwnerQuery = None, agent_id: OwnerQuery = None, run_id: OwnerQuery = None
    ) -> dict[str, Any]:
        """Delete all memories of an owner; their history remains."""
        gone = memory.delete_all(user_id=user_id, agent_id=agent_id, run_id=run_id)
        return {"results": [one.as_json() for one in gone]}

    @app.post("/search", response_model=schemas.Results, responses=documented(502))
    def search(body: schemas.SearchRequest) -> dict[str, Any]:
        """Find the best memories of an owner for a query."""
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

    @app.post("/reset", response_model=schemas.Done, responses=documented())
    def reset() -> dict[str, Any]:
        """Delete everything of every owner, including the history."""
        memory.reset()
        return {"message": "everything is deleted"}


def _one(app: FastAPI, memory: Memory) -> None:
    @app.get("/memories/{id}", response_model=schemas.MemoryOut, responses=documented(404))
    def get(id: MemoryId) -> dict[str, Any]:  # noqa: A002 - the name in the address
        """Return one memory."""
        found = memory.get(id)
        return _there(found).as_json()  # type: ignore[no-any-return]

    @app.put("/memories/{id}", response_model=schemas.ChangeOut, responses=documented(404, 502))
    def update(id: MemoryId, body: schemas.UpdateRequest) -> dict[str, Any]:  # noqa: A002
        """Change text, metadata or time of a memory."""
        change = memory.update(id, body.text, metadata=body.metadata, time=_time(body.time))
        return _there(change).as_json()  # type: ignore[no-any-return]

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


def _owner(body: schemas.AddRequest | schemas.SearchRequest) -> dict[str, str | None]:
    return {"user_id": body.user_id, "agent_id": body.agent_id, "run_id": body.run_id}


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _page(document: Mapping[str, Any]) -> str:
    """Return an OpenAPI `document` as HTML that needs no network and no script."""
    info = document["info"]
    parts = [f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"]
    parts.append(f"<p>{escape(info.get('description', ''))}</p>")
    parts.append('<p>For programs: <a href="/openapi.json">/openapi.json</a></p>')
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts.append(_operation(method.upper(), path, operation))
    parts.append("<h1>Schemas</h1>")
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        shown = json.dumps(schema, indent=1, ensure_ascii=False)
        parts.append(f'<h2 id="{escape(name)}">{escape(name)}</h2><pre>{escape(shown)}</pre>')
    body = "\n".join(parts)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(info["title"])}</title>'
        f"<style>{_STYLE}</style><main>{body}</main></html>"
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
