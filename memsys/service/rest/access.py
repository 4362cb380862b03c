"""What is refused before an operation is asked: by host, origin, API key, size and duration of a
request, and by the number of connections; and the body of every answer with an error.
"""

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import h11
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from memsys.service.rest.schemas import RULES

BODY_MOST = 1_048_576  # bytes
HEADER_S = 10.0
CONNECTIONS_MOST = 256
_READ_MOST = 8 * BODY_MOST  # read before refusing, as many clients send all before they read
_TIMEOUT_S = 30  # for a body
_HOST = re.compile(r"[\w.:\[\]-]+")  # a name or address, and a port
_CLOSE = {"connection": "close"}  # the rest of the body is not a request
_HEADERS = {401: {"www-authenticate": "Bearer"}, 408: _CLOSE, 413: _CLOSE}
_OPEN = ("/", "/docs", "/openapi.json", "/health")  # public, the same for all clients


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """`key`: the API key that requests must send (None: no key). `hosts`: allowed values of the
    Host header (None: any), against DNS rebinding.
    """

    key: str | None
    hosts: Collection[str] | None

    def check(self, headers: Headers, path: str) -> None:
        """Raise HTTPException if a request of these headers is not allowed."""
        host = headers.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname if _HOST.fullmatch(host) else None
        except ValueError:
            name = None
        if self.hosts is not None and name not in self.hosts:
            raise HTTPException(403, "this host name is not allowed; see --allow-host")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}", f"https://{host}"}:
            raise HTTPException(403, "requests from pages of another origin are not allowed")
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        sent = headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" else "")
        # Digests, so that the time of the comparison does not depend on the length of the key.
        pair = [hashlib.sha256(key.encode()).digest() for key in (sent.strip(), self.key or "")]
        if self.key is not None and path not in _OPEN and not hmac.compare_digest(*pair):
            raise HTTPException(401, "send the key: X-API-Key, or Authorization: Bearer")


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
            self._policy.check(request.headers, scope["path"])
            body = await _read(request)
        except HTTPException as error:
            status, content = error.status_code, body_of(error.status_code, error.detail)
            response = JSONResponse(content, status, headers=_HEADERS.get(status))
            await response(scope, receive, send)
            return
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Message:
            return next(messages, None) or await receive()

        await self._app(scope, replay, send)


async def _read(request: Request) -> bytes:
    """Return the body of `request`. Raises HTTPException if it is too large, late or incomplete."""
    length = request.headers.get("content-length", "0")
    size = int(length) if length.isdecimal() else _READ_MOST + 1
    parts, read = [], 0
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            if size <= _READ_MOST:
                async for part in request.stream():
                    read += len(part)
                    parts.append(part if read <= BODY_MOST else b"")
                    if read > _READ_MOST:
                        break
    except TimeoutError:
        raise HTTPException(408, "the body was not received in time") from None
    except ClientDisconnect:
        raise HTTPException(400, "the body is incomplete") from None
    if max(read, size) > BODY_MOST:
        raise HTTPException(413, f"a body has at most {BODY_MOST} bytes")
    return b"".join(parts)


class ErrorPlace(BaseModel):
    """The place of an error in the request, and its message."""

    place: str
    message: str


class Fault(BaseModel):
    """An error: HTTP status, type, message, and the places in the request."""

    status: int
    type: str
    message: str
    details: list[ErrorPlace] = []


class Error(BaseModel):
    """The body of every answer with an error status."""

    error: Fault


def body_of(status: int, message: str, details: Sequence[dict[str, str]] = ()) -> dict[str, Any]:
    """Return the JSON of an Error."""
    kind = RULES["errors"].get(status, "error")
    return {"error": {"status": status, "type": kind, "message": message, "details": list(details)}}


def limited(header_s: float = HEADER_S, most: int = CONNECTIONS_MOST) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with two limits: on the seconds until the headers of a request
    are complete, however slowly they arrive, and on the number of open connections.

    A connection beyond a limit is answered with 408 or 503 and closed.
    """

    class Limited(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > most:
                self._end(503, f"more than {most} connections are open; try again later")
            else:
                self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            self._end(400, msg)

        def _watch(self) -> None:
            """Start the deadline unless a request is being handled; stop it if one is.

            It also ends a client that goes on to send the body of a request that is answered.
            """
            handling = self.cycle is not None and not self.cycle.response_complete
            if handling and self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None
            elif not handling and self._deadline is None:
                late = f"the request's headers were not complete within {header_s:g} s"
                self._deadline = self.loop.call_later(header_s, self._end, 408, late)

        def _end(self, status: int, message: str) -> None:
            """Answer, unless an answer has been sent, and close."""
            if self.transport.is_closing():
                return
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                body = json.dumps(body_of(status, message)).encode()
                head = (
                    f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nconnection: close\r\n"
                    f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
                )
                self.transport.write(head.encode() + body)
            self.transport.close()

    return Limited
