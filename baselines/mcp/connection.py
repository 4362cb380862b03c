"""A connection to one server over the official client, for callers that are not asynchronous, and
how a server is reached: a process of its own, or an address.
"""

from __future__ import annotations

import atexit
import json
import os
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from baselines.libraries.pipe import TAIL, LibraryError, with_last_output
from baselines.mcp.arguments import fill
from baselines.mcp.tools import Tool
from memsys.core import addresses
from memsys.core.errors import InputError, problems

if TYPE_CHECKING:
    from anyio.abc import TaskStatus
    from mcp import Client

_CLOSING_S = 15  # the client asks, ends and kills a process within seven
_PAGES = 100  # of the list of tools
Result = TypeVar("Result")
Transport = Callable[[], Any]  # of what mcp.Client takes


class Connection:
    """Runs the client in a thread. It makes one call at a time, within `timeout_s`.

    A server that ends or does not answer in time is closed, with all processes that it started;
    every later call fails at once.
    """

    def __init__(self, transport: Transport, timeout_s: float, stderr: Path | None = None) -> None:
        """`stderr`: the file of the server's messages. Raises LibraryError if the server does not
        start, or the handshake fails.
        """
        self._transport, self._timeout_s, self._stderr = transport, timeout_s, stderr
        self._dead = ""
        self._open = ExitStack()
        self._portal = self._open.enter_context(start_blocking_portal())
        self._open.callback(self._portal.call, self._portal.stop, True)
        self._stop = self._portal.call(anyio.Event)
        atexit.register(self.close)
        try:
            self._served, self._client = self._portal.start_task(self._serve)
        except Exception as error:
            raise self._end("the start", error) from None
        self._open.callback(self._finish)

    @property
    def is_closed(self) -> bool:
        """Return whether every later call fails: an error is then not an answer of the server."""
        return bool(self._dead)

    def tools(self) -> tuple[list[Tool], dict[str, Any]]:
        """Return the tools, and name, version and protocol of the server."""
        tools, cursor = [], None
        for _ in range(_PAGES):
            page = self._ask("the list of tools", partial(self._client.list_tools, cursor=cursor))
            tools += [Tool(tool.name, tool.input_schema) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        info = self._client.server_info
        about = {"name": info.name, "version": info.version} if info else {}
        return tools, addresses.json_without_secrets(
            {**about, "protocol": self._client.protocol_version}
        )

    def call(
        self, tool: str, arguments: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], dict[str, int]]:
        """Return the result of a tool as JSON values (`structured`, or else `texts`), and the
        number of bytes sent and received, as JSON. Raises LibraryError if the call fails.
        """
        result = self._ask(tool, self._client.call_tool, tool, dict(arguments))
        cost = {
            "sent": len(json.dumps(arguments).encode()),
            "received": len(result.model_dump_json(exclude_none=True).encode()),
        }
        texts = [block.text for block in result.content if block.type == "text"]
        if result.is_error:
            raise LibraryError(addresses.without_secrets(f"{tool}: {' '.join(texts)[:TAIL]}"))
        # A server may repeat a key.
        values = {"structured": result.structured_content, "texts": texts}
        cleaned: Mapping[str, Any] = addresses.json_without_secrets(values)
        return cleaned, cost

    def close(self) -> None:
        """End the session and the server's processes."""
        atexit.unregister(self.close)
        self._dead = self._dead or "closed"
        self._open.close()

    async def _serve(self, *, task_status: TaskStatus[Client]) -> None:
        """Hold the session open until `close`. Raises TimeoutError if it does not start in time."""
        from mcp import Client  # noqa: PLC0415 - a second to import

        with anyio.fail_after(self._timeout_s) as limit:
            async with Client(self._transport()) as client:
                limit.deadline = inf
                task_status.started(client)
                await self._stop.wait()

    def _finish(self) -> None:
        self._portal.call(self._stop.set)
        wait([self._served], _CLOSING_S)

    def _ask(self, what: str, call: Callable[..., Awaitable[Result]], *arguments: Any) -> Result:
        """Return the result of a call. Any failure but one that the server reports ends it."""
        if self._dead:
            raise LibraryError(self._dead)
        future = self._portal.start_task_soon(call, *arguments)
        try:
            return future.result(self._timeout_s)
        except Exception as error:
            future.cancel()
            if type(error).__name__ == "MCPError" and "closed" not in str(error).lower():
                raise LibraryError(addresses.without_secrets(f"{what}: {error}"[:TAIL])) from None
            raise self._end(what, error) from None

    def _end(self, what: str, error: Exception) -> LibraryError:
        """Close the server; return the error to raise now and at every later call."""
        late = f"no answer within {self._timeout_s:g} s; closed"
        why = f"{what}: {late if isinstance(error, TimeoutError) else _words(error)}"
        self.close()
        if self._stderr is not None:
            why = with_last_output(why, self._stderr)
        self._dead = addresses.without_secrets(why)
        return LibraryError(self._dead)


def _words(error: BaseException) -> str:
    """Return the message of `error`, or of the first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{error}".strip() or type(error).__name__


_PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
_HOMES = {  # caches and settings of package runners, which a new home would hide
    "npm_config_cache": ".npm",
    "NPM_CONFIG_USERCONFIG": ".npmrc",
    "UV_CACHE_DIR": ".cache/uv",
    "UV_TOOL_DIR": ".local/share/uv/tools",
}
_PID = ".memsys-pid"  # in the folder of a process
_NOTED = 'echo $$ > "$0"; exec "$@"'  # the client, which makes it lead a group, hides its number


@dataclass(frozen=True, slots=True)
class Command:
    """A server that is started over stdio. `env`: further variables, in which {folder} is the
    folder of the process. `variables`: names of variables of this process that it may see.
    """

    text: str
    env: Mapping[str, str]
    variables: Sequence[str]

    def __post_init__(self) -> None:
        """Raises InputError if the command cannot be run, a variable is not set, or a key is in the
        command or in `env`, which the manifest records.
        """
        parts = self._parts()
        if not parts or shutil.which(parts[0]) is None:
            raise InputError(
                f"strategy.command: {parts[0] if parts else self.text!r} is no program that can be "
                "run here; install it, or correct the command"
            )
        for name, value in self.env.items():
            remedy = f"set it in your shell, and strategy.variables=[{name}]"
            addresses.check_open(name, str(value), f"strategy.env.{name}", remedy)
        for name, value in _options(parts[1:]):
            remedy = "let the server read it from a variable of your shell: strategy.variables"
            addresses.check_open(name, value, f"strategy.command: the value of {name}", remedy)
        for name in self.variables:
            addresses.check_variable(name, "strategy.variables")
            if name not in os.environ:
                raise InputError(f"strategy.variables: {name} is not set in the environment")

    def open(self, folder: Path) -> Transport:
        """Return the transport of a new process that lives in `folder`."""
        return lambda: self._start(folder)

    @asynccontextmanager
    async def _start(self, folder: Path) -> AsyncIterator[Any]:
        from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415 - slow to import

        program, *arguments = (fill(part, {"folder": str(folder)}) for part in self._parts())
        server = StdioServerParameters(
            command="/bin/sh",
            args=["-c", _NOTED, str(folder / _PID), program, *arguments],
            cwd=folder,
            env=self._environment(folder),
        )
        try:
            with (folder / "stderr.txt").open("w", encoding="utf-8") as stderr:
                async with stdio_client(server, errlog=stderr) as streams:
                    yield streams
        finally:
            # The client ends the others only if the first one does not exit by itself.
            with suppress(OSError, ValueError):
                pid = int((folder / _PID).read_text(encoding="ascii"))
                if pid > 1 and pid != os.getpgrp():
                    os.killpg(pid, signal.SIGKILL)

    def _environment(self, folder: Path) -> dict[str, str]:
        names = {*_PASSED, *_HOMES, *self.variables}
        passed = {name: value for name in names if (value := os.environ.get(name))}
        caches = {name: str(Path.home() / path) for name, path in _HOMES.items()}
        xdg = {
            f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("DATA", "CONFIG", "STATE")
        }
        home = {"HOME": str(folder), "PYTHONNOUSERSITE": "1"}
        given = {name: fill(str(text), {"folder": str(folder)}) for name, text in self.env.items()}
        return {**caches, **passed, **xdg, **home, **given}

    def _parts(self) -> list[str]:
        """Return the words of the command; files of the working folder get their full path."""
        with problems("strategy.command", "; close the quotation mark"):
            parts = shlex.split(self.text)
        if parts and "/" in parts[0]:
            parts[0] = str(Path(parts[0]).absolute())
        full = (str(Path(part).absolute()) if Path(part).is_file() else part for part in parts[1:])
        return [*parts[:1], *full]


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values of `--name=value`, `NAME=value` and `--name value`."""
    for word, after in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if equals:
            yield name, value
        elif word.startswith("-"):
            yield word, after


@dataclass(frozen=True, slots=True)
class Address:
    """A server that is reached by streamable HTTP. The value of `key_variable`, if it is set, is
    sent as a bearer token.
    """

    url: str
    key_variable: str

    def __post_init__(self) -> None:
        """Raises InputError on an address that cannot be used."""
        addresses.check_address(self.url, "strategy.url")
        addresses.check_variable(self.key_variable, "strategy.key_variable")

    def open(self, folder: Path | None = None) -> Transport:  # noqa: ARG002 - as of a command
        """Return the transport of a new session."""
        return self._connect

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Any]:
        import httpx2  # noqa: PLC0415 - half a second to import
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        key = os.environ.get(self.key_variable)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=None) as client,
            streamable_http_client(self.url, http_client=client) as streams,
        ):
            yield streams
