"""The HTTP server of the memory operations."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from memsys.errors import InputError
from memsys.service.memory import Memory
from memsys.service.rest.access import AccessPolicy
from memsys.service.rest.app import make_app
from memsys.service.setup import load_setup

_KEY_LEAST = 16  # characters; a shorter key can be guessed


def serve(
    config: str | None,
    folder: str | Path,
    host: str,
    port: int,
    allow_hosts: Sequence[str],
    key: str | None,
) -> None:
    """Serve the memory in `folder` until Ctrl-C. `config`: see load_setup; `port`: 0 for any free
    one; `allow_hosts`: further host names for a loopback address; `key`: the API key, if any.

    Raises InputError on invalid arguments, or if the address cannot be used.
    """
    loopback = is_loopback(host)
    if not loopback and (key is None or len(key) < _KEY_LEAST):
        raise InputError(
            f"--host {host}: can be reached from other machines; set MEMSYS_API_KEY to a secret of "
            f"{_KEY_LEAST} characters or more, or leave --host out"
        )
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: use 0 to 65535")
    listening = _listen(host, port)
    names = {"127.0.0.1", "localhost", "::1", host, *allow_hosts}
    policy = AccessPolicy(key, {name.lower() for name in names} if loopback else None)
    with Memory(folder, load_setup(config)) as memory:
        app = make_app(memory, policy)
        settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        memory.search("warm up", user_id="warm up")  # loads the embedder before the first request
        shown = f"[{host}]" if ":" in host else host
        print(f"http://{shown}:{listening.getsockname()[1]}/docs (Ctrl-C ends it)", flush=True)
        uvicorn.Server(settings).run(sockets=[listening])


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`; names other than localhost count as
    reachable.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises InputError if the address cannot be used."""
    try:
        (family, _, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # With the protocol given, asyncio turns off Nagle's algorithm, which delays by 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise InputError(f"--host {host} --port {port}: cannot be used ({error})") from error
    listening.listen(128)
    return listening
