"""HTTP over the network, with one deadline per request and a limit on the size of an answer."""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpcore2
import httpx2

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ENCODING = "gzip"
_PART = 65_536  # bytes of a request per write
_DEADLINE: ContextVar[float] = ContextVar("_DEADLINE", default=float("inf"))


@cache
def _certificates() -> ssl.SSLContext:
    """Return the system's certificates, read once a process: each time takes 25 ms."""
    return httpx2.create_ssl_context()


class AnswerTooLarge(Exception):  # noqa: N818 - names what arrived
    """An answer exceeds its limit; the message says which."""


class Network:
    """Sends requests over reused connections and through the system's proxies, except to the
    loopback address, which no proxy can reach. It is safe for several threads.
    """

    def __init__(self) -> None:
        unlimited = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        here = httpx2.HTTPTransport(verify=_certificates(), limits=unlimited)
        mounts = {f"all://{host}": here for host in _LOOPBACK}
        self._client = httpx2.Client(verify=_certificates(), limits=unlimited, mounts=mounts)
        # The limits of httpx are per read and write, so a slow server could go on for ever. No
        # public parameter of httpx passes a backend on to its pools of connections.
        for transport in (self._client._transport, *self._client._mounts.values()):
            pool: Any = getattr(transport, "_pool", None)
            if pool is not None and not isinstance(pool._network_backend, _Backend):
                pool._network_backend = _Backend(pool._network_backend)

    def send(
        self, request: httpx2.Request, timeout_s: float, most_bytes: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and body, unpacked. `timeout_s` bounds the time from connecting to
        the last byte, `most_bytes` the body. Raises httpx2.TransportError; AnswerTooLarge if an
        answer with a status of 2xx is larger (another answer is returned without its body).
        """
        request.headers["accept-encoding"] = _ENCODING
        token = _DEADLINE.set(time.monotonic() + timeout_s)
        try:
            response = self._client.send(request, stream=True)
            try:
                data = _body(response, most_bytes)
            except AnswerTooLarge:
                if response.is_success:
                    raise
                data = b""
            finally:
                response.close()
            return response.status_code, response.headers, data
        finally:
            _DEADLINE.reset(token)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _body(response: httpx2.Response, most_bytes: int) -> bytes:
    """Return the body, unpacked piece by piece, so that no more than the limit is in memory."""
    parts: list[bytes] = []
    left = most_bytes
    for part in _unpacked(response, most_bytes + 1):
        left -= len(part)
        if left < 0:
            raise AnswerTooLarge(f"larger than {most_bytes / 2**20:.0f} MB")
        parts.append(part)
    return b"".join(parts)


def _unpacked(response: httpx2.Response, most_bytes: int) -> Iterator[bytes]:
    """Yield the pieces of the body, each of at most `most_bytes`."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        yield from response.iter_raw()
        return
    if encoding not in (_ENCODING, "x-gzip"):
        raise httpx2.RemoteProtocolError(f"content-encoding {encoding[:20]!r} was not accepted")
    decoder = zlib.decompressobj(31)
    try:
        for part in response.iter_raw():
            yield decoder.decompress(part, most_bytes)
        yield decoder.flush()
    except zlib.error as error:
        raise httpx2.RemoteProtocolError(f"the body is not gzip ({error})") from None


def _left(timeout: float | None, late: type[httpcore2.TimeoutException]) -> float:
    """Return the seconds left for the current request, at most `timeout`; raise `late` if none."""
    left = _DEADLINE.get() - time.monotonic()
    if left <= 0:
        raise late("the answer takes too long")
    return left if timeout is None else min(left, timeout)


class _Backend:
    """A network backend of httpcore that opens connections within the deadline of the current
    request.
    """

    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **more: Any
    ) -> _Stream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._backend.connect_tcp(host, port, left, **more))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)


class _Stream:
    """A connection; each read and write ends at the deadline of the current request."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PART):
            left = _left(timeout, httpcore2.WriteTimeout)
            self._stream.write(buffer[start : start + _PART], left)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> _Stream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
