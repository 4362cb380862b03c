"""Limits on connections that apply before any request is read: how long and how many."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from memsys.service.rest.access import body_of

HEADER_S = 10.0
CONNECTIONS_MOST = 256


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
