"""HTTP over the network, with one deadline per request and a limit on the size of an answer."""

from __future__ import annotations

import io
import re
import socket
import ssl
import time
import zlib
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from multiprocessing.connection import wait
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import (  # type: ignore[attr-defined]
    getproxies,
    proxy_bypass,
    proxy_bypass_environment,
)

import httpx2

from memsys.core.addresses import LOOPBACK
from memsys.core.errors import InputError

Waiting = Callable[[], AbstractContextManager[None]]
_ENCODING = "gzip"
_PART = 65_536  # bytes of an answer per read
_IDLE_S = 5  # after which a connection is not used again: a firewall may have forgotten it


@cache
def _certificates() -> ssl.SSLContext:
    """Return the system's certificates, read once a process: each time takes 25 ms. Raises
    InputError if a variable names others that cannot be read.
    """
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise InputError(
            f"SSL_CERT_FILE or SSL_CERT_DIR: certificates cannot be read ({error}); name a file "
            "or folder of certificates"
        ) from None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it is sent; `headers` include a key and the length of `content`."""

    method: str
    url: SplitResult
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)

    @classmethod
    def of(cls, request: httpx2.Request) -> Outgoing:
        """Return the parts of `request`."""
        url = urlsplit(str(request.url))
        return cls(request.method, url, dict(request.headers.items()), request.content)

    def with_content(self, content: bytes) -> Outgoing:
        """Return the same request with other content."""
        headers = {**self.headers, "content-length": str(len(content))}
        return Outgoing(self.method, self.url, headers, content)


class AnswerTooLarge(Exception):  # noqa: N818 - names what arrived
    """An answer exceeds its limit; the message says which."""


class Network:
    """Sends requests over reused connections and through the system's proxies, except to the
    loopback address, which no proxy can reach. It is safe for several threads.
    """

    def __init__(self) -> None:
        # By scheme, host and port; single operations of a list are safe for several threads (see
        # _pop).
        self._idle: defaultdict[tuple[str, str], list[_Connection]] = defaultdict(list)

    def send(
        self, request: Outgoing, timeout_s: float, most_bytes: int, waiting: Waiting = nullcontext
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers with names in lower case, and body, unpacked. `timeout_s` bounds
        the time from connecting to the last byte, `most_bytes` the body. Each part of the answer is
        waited for in a context `waiting`. Raises httpx2.TransportError; AnswerTooLarge if an answer
        with a status of 2xx is larger (another answer is returned without its body); InputError on
        an unusable proxy or certificates.
        """
        url = request.url
        deadline = time.monotonic() + timeout_s
        connection = self._connection(url, deadline)
        connection.waiting = waiting
        target = url._replace(scheme="", netloc="").geturl()
        headers = {**request.headers, "accept-encoding": _ENCODING}
        if connection.proxy is not None and url.scheme == "http":
            target, headers = url.geturl(), headers | _login(connection.proxy)
        reusable = False
        try:
            connection.http.request(request.method, target, request.content, headers)
            response = connection.http.getresponse()
            received = response.headers.items()
            passed = {name.lower(): value for name, value in received if value.isascii()}
            try:
                data = _body(response, most_bytes)
            except AnswerTooLarge:
                if 200 <= response.status < 300:
                    raise
                return response.status, passed, b""
            reusable = response.isclosed() and not response.will_close
            return response.status, passed, data
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error)) from error
        except (OSError, HTTPException) as error:
            raise httpx2.RemoteProtocolError(f"{type(error).__name__}: {error}") from error
        finally:
            if reusable:
                connection.idle_since = time.monotonic()
                self._idle[url.scheme, url.netloc].append(connection)
            else:
                connection.http.close()

    def close(self) -> None:
        """Close the connections."""
        for connections in list(self._idle.values()):
            while connection := _pop(connections):
                connection.http.close()

    def _connection(self, url: SplitResult, deadline: float) -> _Connection:
        """Return an idle connection that the server has not closed, or else a new one."""
        idle = self._idle[url.scheme, url.netloc]
        while connection := _pop(idle):
            if not connection.has_ended():
                connection.deadline = deadline
                return connection
            connection.http.close()
        proxy = _proxy_for(url)
        address = proxy or url
        port = address.port or (443 if address.scheme == "https" else 80)
        host, left = str(address.hostname), deadline - time.monotonic()
        if url.scheme == "http":
            http = HTTPConnection(host, port, timeout=left)
        else:
            http = HTTPSConnection(host, port, timeout=left, context=_certificates())
        if proxy is not None and url.scheme == "https":
            http.set_tunnel(str(url.hostname), url.port, _login(proxy))
        try:
            http.connect()
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except (OSError, HTTPException, UnicodeError) as error:  # the last for labels of a host
            http.close()
            raise httpx2.ConnectError(str(error)) from error
        return _Connection(http, proxy, deadline)


def _pop(idle: list[_Connection]) -> _Connection | None:
    """Remove and return the last connection, if there is one, though other threads do so, too."""
    try:
        return idle.pop()
    except IndexError:
        return None


def _proxy_for(url: SplitResult) -> SplitResult | None:
    """Return the address of the proxy through which the system sends a request, if any. Raises
    InputError unless it is one of HTTP, as another would receive its password in clear.
    """
    proxies = getproxies()
    direct = {"no": re.sub(r"\w+://", "", proxies.get("no", ""))}
    if (
        url.hostname in LOOPBACK
        or proxy_bypass(url.netloc)
        or proxy_bypass_environment(url.netloc, direct)
    ):
        return None
    name = url.scheme if proxies.get(url.scheme) else "all"
    address = proxies.get(name)
    if not address:
        return None
    try:
        proxy = urlsplit(address if "://" in address else f"http://{address}")
        is_named = bool(re.fullmatch(r"\S+", proxy.hostname or ""))
        is_usable = proxy.scheme == "http" and is_named and proxy.port != 0
    except ValueError:  # the message may repeat a password
        is_usable = False
    if not is_usable:
        raise InputError(
            f"{name.upper()}_PROXY: is no proxy of HTTP; use http://HOST:PORT, or name the server "
            "in NO_PROXY"
        )
    return proxy


def _login(proxy: SplitResult) -> dict[str, str]:
    """Return the header with user and password of a proxy, if its address has them."""
    if not proxy.username:
        return {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"}


def _body(response: HTTPResponse, most_bytes: int) -> bytes:
    """Return the body, unpacked piece by piece, so that no more than the limit is in memory."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity", _ENCODING, "x-gzip"):
        raise httpx2.RemoteProtocolError(f"content-encoding {encoding[:20]!r} was not accepted")
    decoder = zlib.decompressobj(31) if "gzip" in encoding else None
    body = bytearray()
    try:
        while part := response.read(_PART):
            body += part if decoder is None else decoder.decompress(part, most_bytes + 1)
            if len(body) > most_bytes:
                raise AnswerTooLarge(f"larger than {most_bytes / 2**20:.0f} MB")
        body += decoder.flush() if decoder is not None else b""
    except zlib.error as error:
        raise httpx2.RemoteProtocolError(f"the body is not gzip ({error})") from None
    if response.length:
        raise httpx2.RemoteProtocolError(f"the answer ends {response.length} bytes too early")
    return bytes(body)


class _Connection:
    """A connection on which a request and its answer share one deadline: limits of sockets are per
    read, so that a slow server could go on for ever. It is the socket of its `http`.
    """

    def __init__(self, http: HTTPConnection, proxy: SplitResult | None, deadline: float) -> None:
        self.http, self.proxy, self.deadline = http, proxy, deadline
        self.waiting: Waiting = nullcontext
        self.idle_since = time.monotonic()
        self.connected = http.sock
        http.sock = self

    def within_deadline(self) -> socket.socket:
        """Return the socket, whose next operation ends at the deadline; TimeoutError after it."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self.connected.settimeout(left)
        return self.connected

    def has_ended(self) -> bool:
        """Return whether the other side has closed the connection, or sent what nobody asked, or
        may have dropped it without a word, as nobody used it.
        """
        is_old = time.monotonic() - self.idle_since >= _IDLE_S
        return is_old or bool(wait([self.connected], 0))

    def sendall(self, data: Any) -> None:
        self.within_deadline().sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - always to read bytes
        return io.BufferedReader(_Incoming(self), _PART)

    def close(self) -> None:
        self.connected.close()


class _Incoming(io.RawIOBase):
    """The bytes that arrive at a socket, which stays open until this is closed, too."""

    def __init__(self, source: _Connection) -> None:
        self._source = source
        self._raw = source.connected.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._source.within_deadline()
        with self._source.waiting():
            return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
