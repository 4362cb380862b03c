"""The application of the server within this process, asked as the real one is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.testclient import TestClient

from memsys.service.memory import Memory
from memsys.service.rest.access import AccessPolicy
from memsys.service.rest.app import make_app
from tests.memsys.service.rest.serving import Answer


def ask(
    app: Any, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Send a request; `app`: a memory without rules of access, or an application."""
    if isinstance(app, Memory):
        app = make_app(app, AccessPolicy(None, None))
    client = TestClient(app, raise_server_exceptions=False)
    reply = client.request(method, path, json=body, headers=dict(headers or {}))
    return Answer(reply.status_code, dict(reply.headers), reply.json())
