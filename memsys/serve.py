"""`python -m memsys.serve`: the memory operations over HTTP."""

from __future__ import annotations

import argparse
import ipaddress
import os
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from memsys.errors import InputError, complain

KEY = "MEMSYS_API_KEY"
_KEY_LEAST = 16  # characters; a shorter key can be guessed
_HELP = f"""Serve the memory operations (docs/memory-api.md) over HTTP: JSON in and out, the
OpenAPI document at /openapi.json, and as a page at /docs that needs no network.

With --config, the embedder, index, ranking, k and model are those of a benchmarked run or of a YAML
file with the same groups; without it, those of what MEMSYS_CONFIG names, else of conf/config.yaml.
Only classes of the options in conf/ are built, and those of modules in MEMSYS_TRUSTED. The servers
that receive texts are printed, with the variables of their keys; a run's must be in conf/, on this
machine or in MEMSYS_TRUSTED.

If the environment variable {KEY} is set, every request must send its value (X-API-Key, or
Authorization: Bearer). It is required unless the server listens on a loopback address. There is no
TLS: put a proxy that has it in front."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C; return the exit code: 2 for wrong input."""
    options = _parser().parse_args(arguments)
    try:
        key = os.environ.get(KEY) or None
        serve(options.config, options.folder, options.host, options.port, options.allow_host, key)
    except InputError as error:
        complain(error)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


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
    if missing := [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]:
        raise InputError(f"memsys.serve: {missing[0]} is not installed; pip install -e '.[server]'")
    import uvicorn  # noqa: PLC0415 - an extra, and the next five need time or extras

    from memsys.service.memory import Memory  # noqa: PLC0415
    from memsys.service.rest.access import AccessPolicy  # noqa: PLC0415
    from memsys.service.rest.app import make_app  # noqa: PLC0415
    from memsys.service.rest.connections import limited  # noqa: PLC0415
    from memsys.service.setup import load_setup  # noqa: PLC0415

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
    setup = load_setup(config)
    for call in setup.calls:
        print(f"calls {call}", file=sys.stderr)
    with Memory(folder, setup) as memory:
        app = make_app(memory, policy)
        settings = uvicorn.Config(
            app,
            http=limited(),
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
        )
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m memsys.serve",
        description=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    config = "a run (folder, id under results/runs or a part of it, or last), or a YAML file"
    folder = "where memories are stored; created if absent (default: memories)"
    allow = "a further host name of the loopback address, such as that of a proxy; repeatable"
    add("--config", metavar="RUN_OR_YAML", help=config)
    add("--folder", default="memories", metavar="DIR", help=folder)
    add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    add("--port", type=int, default=8000, metavar="N", help="0: any free port (default: 8000)")
    add("--allow-host", action="append", default=[], metavar="NAME", help=allow)
    return parser


if __name__ == "__main__":
    sys.exit(main())
