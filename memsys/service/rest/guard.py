"""Who may ask: the door in front of every request."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memsys.service.rest.failures import body_of

BODY_MOST = 1_048_576  # bytes
_HEARD_OUT = 8 * BODY_MOST  # of what is too large: many clients listen only once they have said all
_PATIENCE_S = 30  # for a body
_OPEN = ("/docs", "/openapi.json")  # the same for everybody, and nothing of anybody


@dataclass(frozen=True, slots=True)
class Door:
    """`key`: wanted of every request (None: of none). `hosts`: names under which this server may be
    asked (None: any); a page whose name was pointed here (DNS rebinding) says its own.
    """

    key: str | None
    hosts: Collection[str] | None

    def refusal(self, headers: Headers, path: str) -> tuple[int, str] | None:
        """Status and reason, None where the request may pass."""
        host = headers.get("host", "")
        if self.hosts is not None and _name(host) not in self.hosts:
            return 403, "this server is not asked under that name; see --allow-host"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "not from a page of another origin"
        if self.key is not None and path not in _OPEN and not self._known(headers):
            return 401, "send the key: X-API-Key, or Authorization: Bearer"
        return None

    def _known(self, headers: Headers) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" else "")
        # Digests: so that not even the length of the key can be told from the time it takes.
        pair = [hashlib.sha256(one.encode()).digest() for one in (given.strip(), self.key or "")]
        return hmac.compare_digest(*pair)


class Guard:
    """Refuses what the door refuses, and bodies that are too large or do not come."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            refusal = self._door.refusal(headers, scope["path"])
        except ValueError:  # a name or origin that cannot be read
            refusal = 403, "the request's host or origin cannot be read"
        body = b""
        if refusal is None:
            body, refusal = await _read(headers, receive)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        told = False

        async def replay() -> Message:
            nonlocal told
            if told:
                return await receive()
            told = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)


def _name(host: str) -> str:
    return urlsplit(f"//{host}").hostname or ""


async def _read(headers: Headers, receive: Receive) -> tuple[bytes, tuple[int, str] | None]:
    too_large = 413, f"a body has at most {BODY_MOST} bytes"
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > _HEARD_OUT:
        return b"", too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":  # the client has gone
                    return b"", (400, "the body broke off")
                part = message.get("body", b"")
                size += len(part)
                if size <= BODY_MOST:
                    parts.append(part)
                if size > _HEARD_OUT or not message.get("more_body", False):
                    return (b"".join(parts), None) if size <= BODY_MOST else (b"", too_large)
    except TimeoutError:
        return b"", (408, "the body did not come")


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps(body_of(status, message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in {408, 413}:
        headers.append((b"connection", b"close"))  # what else it sends is no request
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
