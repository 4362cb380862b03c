"""A client that sends nothing, half of its headers, or drips them, is closed in time."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")

from memsys.service.rest.access import limited  # noqa: E402 - after the extra

WAIT_S = 120  # until a test gives up; nothing that works takes as long
HALF = b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nX-"
WHOLE = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
REFUSED_BODY = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"


CHUNKED = b"POST /read HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer without reading the body, as for a wrong key, unless the path is /read."""
    assert scope["type"] == "http"
    while scope["path"] == "/read" and (await receive())["type"] != "http.disconnect":
        pass
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def running(**limits: Any) -> Iterator[tuple[str, int]]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=limited(**limits), ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join(WAIT_S)
        assert not thread.is_alive()


def connect(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=WAIT_S)


def answered(client: socket.socket, count: int = 1) -> bool:
    """Read `count` whole answers; False if the server closes before."""
    received = b""
    while received.count(b"\r\n\r\nok") < count:
        part = client.recv(65_536)
        if not part:
            return False
        received += part
    return True


def until_closed(client: socket.socket, drip: bytes = b"") -> bytes:
    """Send `drip` again and again until the server closes the connection; all that it sent."""
    client.settimeout(0.2 if drip else WAIT_S)
    received, give_up = b"", time.monotonic() + WAIT_S
    while time.monotonic() < give_up:
        try:
            if not (part := client.recv(65_536)):
                return received
            received += part
        except ConnectionResetError:  # closed while more was sent
            return received
        except TimeoutError:
            with suppress(OSError):  # closed meanwhile: the next recv says so
                client.sendall(drip)
    raise AssertionError("the connection is still open")


NEVER_ENDING = {  # what is sent, what is sent again and again, the status of the answer
    "nothing": (b"", b"", b"408"),
    "half": (HALF, b"", b"408"),
    "dripped": (HALF, b"a", b"408"),
    "empty lines": (b"\r\n", b"\r\n", b"400"),
    "the second request": (WHOLE + HALF, b"a", b"200"),
    "a refused body": (REFUSED_BODY, b"a", b"200"),
    "a malformed chunk": (CHUNKED + b"zz\r\n", b"a", b"400"),
}


def test_a_request_that_never_ends_is_closed():
    """All at once: the limit is long enough for what is sent first to arrive."""

    def ended(sent: bytes, drip: bytes, _: bytes) -> bytes:
        with connect(address) as client:
            client.sendall(sent)
            return until_closed(client, drip)

    with running(header_s=2) as address, ThreadPoolExecutor(len(NEVER_ENDING)) as pool:
        replies = list(pool.map(lambda one: ended(*one), NEVER_ENDING.values()))
    for received, (name, (_, drip, status)) in zip(replies, NEVER_ENDING.items(), strict=True):
        assert received == b"" or received.startswith(b"HTTP/1.1 " + status), name
        if not drip:
            head, _, body = received.partition(b"\r\n\r\n")
            assert json.loads(body)["error"]["type"] == "timeout"
            assert b"connection: close" in head


def test_a_request_in_parts_and_a_connection_used_again_are_served():
    with running(header_s=300) as address, connect(address) as client:
        for _ in range(3):
            for i in range(0, len(WHOLE), 10):
                client.sendall(WHOLE[i : i + 10])
            assert answered(client)
        client.sendall(WHOLE * 2)
        assert answered(client, 2)


def test_more_connections_than_allowed_are_refused_at_once():
    with running(header_s=300, most=3) as address:
        clients = [connect(address) for _ in range(3)]
        for client in clients:
            client.sendall(WHOLE)
            assert answered(client)
        with connect(address) as fourth:
            assert until_closed(fourth).startswith(b"HTTP/1.1 503 ")
        clients.pop().close()
        give_up, served = time.monotonic() + WAIT_S, False
        while not served and time.monotonic() < give_up:
            with connect(address) as client, suppress(OSError):
                client.sendall(WHOLE)
                served = answered(client)
        for client in clients:
            client.close()
        assert served
