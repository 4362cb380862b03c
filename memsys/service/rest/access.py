"""Access control of every request: host, origin, API key and size of the body."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_MOST = 1_048_576  # bytes
_READ_MOST = 8 * BODY_MOST  # read before refusing, as many clients send all before they read
_TIMEOUT_S = 30  # for a body
_HOST = re.compile(r"[\w.:\[\]-]+")  # a name or address, and a port
_CLOSE = {"connection": "close"}  # the rest of the body is not a request
_HEADERS = {401: {"www-authenticate": "Bearer"}, 408: _CLOSE, 413: _CLOSE}
_OPEN = ("/", "/docs", "/openapi.json", "/health")  # public, the same for all clients
_TYPES = {  # of errors
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "no_model",
    413: "too_large",
    422: "invalid_input",
    502: "model_failed",
    503: "busy",
}


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """`key`: the API key that requests must send (None: no key). `hosts`: allowed values of the
    Host header (None: any), against DNS rebinding.
    """

    key: str | None
    hosts: Collection[str] | None

    def refusal(self, headers: Headers, path: str) -> tuple[int, str] | None:
        """Return status and reason of a refusal, or None if the request is allowed."""
        host = headers.get("host", "")
        if self.hosts is not None and _name(host) not in self.hosts:
            return 403, "this host name is not allowed; see --allow-host"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}", f"https://{host}"}:
            return 403, "requests from pages of another origin are not allowed"
        if self.key is not None and path not in _OPEN and not self._has_key(headers):
            return 401, "send the key: X-API-Key, or Authorization: Bearer"
        return None

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        sent = headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" else "")
        # Digests, so that the time of the comparison does not depend on the length of the key.
        pair = [hashlib.sha256(one.encode()).digest() for one in (sent.strip(), self.key or "")]
        return hmac.compare_digest(*pair)


class AccessControl:
    """ASGI middleware that applies the policy, and refuses bodies too large or too slow."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            refusal = self._policy.refusal(request.headers, scope["path"])
        except ValueError:  # an invalid host or origin
            refusal = 403, "the request's host or origin is invalid"
        body = b""
        if refusal is None:
            body, refusal = await _read(request)
        if refusal is not None:
            status, message = refusal
            response = JSONResponse(body_of(status, message), status, headers=_HEADERS.get(status))
            await response(scope, receive, send)
            return
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Message:
            return next(messages, None) or await receive()

        await self._app(scope, replay, send)


def _name(host: str) -> str:
    if not _HOST.fullmatch(host):
        return ""
    return urlsplit(f"//{host}").hostname or ""


async def _read(request: Request) -> tuple[bytes, tuple[int, str] | None]:
    """Return the body of `request`, or status and reason of a refusal."""
    too_large = 413, f"a body has at most {BODY_MOST} bytes"
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > _READ_MOST:
        return b"", too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            async for part in request.stream():
                size += len(part)
                if size <= BODY_MOST:
                    parts.append(part)
                if size > _READ_MOST:
                    break
    except TimeoutError:
        return b"", (408, "the body was not received in time")
    except ClientDisconnect:
        return b"", (400, "the body is incomplete")
    return (b"".join(parts), None) if size <= BODY_MOST else (b"", too_large)


def body_of(status: int, message: str, details: Sequence[dict[str, str]] = ()) -> dict[str, Any]:
    """Return the JSON of an error."""
    kind = _TYPES.get(status, "error")
    return {"error": {"status": status, "type": kind, "message": message, "details": list(details)}}
