"""`python -m memsys.serve`: the memory operations over HTTP."""

from __future__ import annotations

import argparse
import ipaddress
import os
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from memsys.errors import InputError

KEY = "MEMSYS_API_KEY"
_KEY_LEAST = 16  # characters; a shorter one can be guessed
_HELP = f"""Serve the memory operations (docs/memory-api.md) over HTTP: JSON in and out, the
OpenAPI document at /openapi.json, and as a page at /docs that needs no network.

With --config the embedder, index, ranking, k and model are those of a benchmarked run or of a YAML
file with the same groups; without it, those of conf/config.yaml. A configuration names classes that
are then made: use none that you do not trust.

The variable {KEY} holds the key that every request then has to bring (X-API-Key, or
Authorization: Bearer). Beyond this machine nothing is served without one. There is no TLS here:
put a proxy that has it in front."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C, which is the way to end it; returns the exit code: 2 for wrong input."""
    options = _parser().parse_args(arguments)
    try:
        _serve(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m memsys.serve",
        description=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config",
        metavar="RUN_OR_YAML",
        help="a run's folder, its id under results/runs, or a YAML file",
    )
    parser.add_argument(
        "--folder",
        default="memories",
        metavar="DIR",
        help="where memories are kept; made if absent (default: memories)",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, default=8000, metavar="N", help="0: a free one (default: 8000)"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another name under which it may be asked on the loopback address, such as that of a "
        "proxy; may be repeated",
    )
    return parser


def _serve(options: argparse.Namespace) -> None:
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise InputError(
                f"memsys.serve: {package} is not installed; pip install -e '.[server]'"
            )
    key = os.environ.get(KEY) or None
    loopback = is_loopback(options.host)
    if not loopback and (key is None or len(key) < _KEY_LEAST):
        raise InputError(
            f"--host {options.host}: can be reached from elsewhere; set {KEY} to a secret of "
            f"{_KEY_LEAST} signs or more, or leave --host out"
        )
    if not 0 <= options.port <= 65535:
        raise InputError(f"--port {options.port}: use 0 to 65535")
    listening = _listen(options.host, options.port)

    import uvicorn  # noqa: PLC0415 - an extra

    from memsys.service.memory import Memory  # noqa: PLC0415
    from memsys.service.rest.app import make_app  # noqa: PLC0415
    from memsys.service.rest.guard import Door  # noqa: PLC0415
    from memsys.service.setup import load_setup  # noqa: PLC0415

    names = {"127.0.0.1", "localhost", "::1", options.host, *options.allow_host}
    door = Door(key, {name.lower() for name in names} if loopback else None)
    with Memory(options.folder, load_setup(options.config)) as memory:
        config = uvicorn.Config(
            make_app(memory, door), log_level="warning", access_log=False, server_header=False
        )
        memory.search("warm up", user_id="warm up")  # loads the embedder before the first asks
        port = listening.getsockname()[1]
        host = f"[{options.host}]" if ":" in options.host else options.host
        print(f"http://{host}:{port}/docs (Ctrl-C ends it)", flush=True)
        uvicorn.Server(config).run(sockets=[listening])


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach `host`; a name but localhost may be anything."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """Raises InputError if the address cannot be had."""
    try:
        (family, _, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # Its protocol named, or asyncio does not turn off Nagle's delay of 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise InputError(f"--host {host} --port {port}: cannot be had ({error})") from error
    listening.listen(128)
    return listening


if __name__ == "__main__":
    sys.exit(main())
