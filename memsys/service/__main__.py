"""`python -m eval serve`: the memory operations over HTTP, or as tools of an agent (MCP)."""

from __future__ import annotations

import argparse
import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memsys.core.errors import InputError, as_started, check_installed, complain, problems

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from memsys.service.memory import Memory

KEY = "MEMSYS_API_KEY"
_KEY_LEAST = 16  # characters; a shorter key can be guessed
_HELP = Path(__file__).with_name("help.txt").read_text(encoding="utf-8").strip()
_LOCAL = "127.0.0.1"
_PORT = 8000


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C; return the exit code: 2 for wrong input."""
    options = _parser().parse_args(arguments)
    over_stdio = options.mcp and options.port is None
    try:
        if over_stdio and (options.host is not None or options.allow_host):
            raise InputError("--mcp: --host and --allow-host need --port")
        if options.user is not None and not options.mcp:
            raise InputError("--user: needs --mcp; requests name an owner")
        for package in ("mcp",) if options.mcp else ("fastapi", "uvicorn"):
            check_installed(package, "serve", "mcp" if options.mcp else "server")
        if over_stdio:
            _serve_stdio(options)
        else:
            _serve(options, os.environ.get(KEY) or None)
    except InputError as error:
        complain(error)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


def _serve_stdio(options: argparse.Namespace) -> None:
    """Serve the tools on stdin and stdout until the client closes them."""
    import anyio  # noqa: PLC0415 - an extra, as are the next
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    from memsys.service.mcp import make_server  # noqa: PLC0415

    with _open_memory(options) as memory:
        server = make_server(memory, options.user)

        async def run() -> None:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())

        # A read of stdin cannot be cancelled, so Ctrl-C ends the process; changes are transactions.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        anyio.run(run)


def _serve(options: argparse.Namespace, key: str | None) -> None:
    """Serve over HTTP until Ctrl-C. `key`: the API key, if any. Raises InputError on an invalid
    option, or if the address cannot be used.
    """
    import uvicorn  # noqa: PLC0415 - an extra, and the next needs it

    from memsys.service.rest.access import AccessControl, AccessPolicy, limited  # noqa: PLC0415

    host, port = options.host or _LOCAL, _PORT if options.port is None else options.port
    if key is not None and key != key.strip():
        raise InputError(f"{KEY}: begins or ends with a blank, which no header can; remove it")
    loopback = is_loopback(host)
    if not loopback and (key is None or len(key) < _KEY_LEAST):
        raise InputError(
            f"--host {host}: can be reached from other machines; set MEMSYS_API_KEY to a secret of "
            f"{_KEY_LEAST} characters or more, or leave --host out"
        )
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: use 0 to 65535")
    listening = _listen(host, port)
    names = {_LOCAL, "localhost", "::1", host, *options.allow_host}
    policy = AccessPolicy(key, {name.lower() for name in names} if loopback else None)
    with _open_memory(options) as memory:
        app: ASGIApp
        if options.mcp:
            from mcp.server import transport_security  # noqa: PLC0415

            from memsys.service.mcp import make_server  # noqa: PLC0415

            path = "/mcp"
            tools = make_server(memory, options.user).streamable_http_app(
                streamable_http_path=path,
                json_response=True,
                stateless_http=True,  # nothing of a client is stored between its requests
                transport_security=transport_security.TransportSecuritySettings(
                    enable_dns_rebinding_protection=False  # AccessControl checks host and origin
                ),
            )
            app = AccessControl(tools, policy)
        else:
            from memsys.service.rest.app import make_app  # noqa: PLC0415

            app, path = make_app(memory, policy), "/docs"
        settings = uvicorn.Config(
            app,
            http=limited(),
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
        )
        shown = f"[{host}]" if ":" in host else host
        print(f"http://{shown}:{listening.getsockname()[1]}{path} (Ctrl-C ends it)", flush=True)
        uvicorn.Server(settings).run(sockets=[listening])


@contextmanager
def _open_memory(options: argparse.Namespace) -> Iterator[Memory]:
    """Open the memory, print what it calls to stderr, and load its embedder. Raises InputError like
    load_setup, or if the user is no id.
    """
    from memsys.service.arguments import Arguments  # noqa: PLC0415 - needs time
    from memsys.service.memory import Memory  # noqa: PLC0415
    from memsys.service.setup import load_setup  # noqa: PLC0415

    with problems("--user"):
        Arguments(user_id=options.user)
    setup = load_setup(options.config)
    for call in setup.calls:
        print(f"calls {call}", file=sys.stderr)
    with Memory(options.folder, setup) as memory:
        memory.search("warm up", user_id="warm up")
        yield memory


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
        prog=as_started("python -m eval serve"),
        description=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    config = "a run (folder, id under results/runs or a part of it, or last), or a YAML file"
    add("--config", metavar="RUN_OR_YAML", help=config)
    folder = "where memories are stored; created if absent (default: memories)"
    add("--folder", default="memories", metavar="DIR", help=folder)
    add("--host", help=f"address to listen on (default: {_LOCAL})")
    port = f"0: any free port (default: {_PORT}; with --mcp: stdin and stdout instead)"
    add("--port", type=int, metavar="N", help=port)
    allow = "a further host name of the loopback address, such as that of a proxy; repeatable"
    add("--allow-host", action="append", default=[], metavar="NAME", help=allow)
    add("--mcp", action="store_true", help="offer tools of the Model Context Protocol (extra mcp)")
    user = "with --mcp: the user_id of calls that name none (default: each must name one)"
    add("--user", metavar="ID", help=user)
    return parser
