"""How a server is reached: a process of its own, or an address."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from baselines.mcp.arguments import fill
from baselines.mcp.connection import Transport
from memsys.core.addresses import check_address, check_open, check_variable
from memsys.core.errors import InputError

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
            check_open(name, str(value), f"strategy.env.{name}", remedy)
        for name, value in _options(parts[1:]):
            remedy = "let the server read it from a variable of your shell: strategy.variables"
            check_open(name, value, f"strategy.command: the value of {name}", remedy)
        for name in self.variables:
            check_variable(name, "strategy.variables")
            if name not in os.environ:
                raise InputError(f"strategy.variables: {name} is not set in the environment")

    def open(self, folder: Path) -> Transport:
        """Return the transport of a new process that lives in `folder`."""
        return lambda: self._started(folder)

    @asynccontextmanager
    async def _started(self, folder: Path) -> AsyncIterator[Any]:
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
            _kill_group(folder / _PID)

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
        try:
            parts = shlex.split(self.text)
        except ValueError as error:
            raise InputError(f"strategy.command: {error}; close the quotation mark") from None
        if parts and "/" in parts[0]:
            parts[0] = str(Path(parts[0]).absolute())
        return [*parts[:1], *(_full(part) for part in parts[1:])]


def _kill_group(noted: Path) -> None:
    """Kill what a process has left in its group: the client ends the others only if the first one
    does not exit by itself.
    """
    with suppress(OSError, ValueError):
        pid = int(noted.read_text(encoding="ascii"))
        if pid > 1 and pid != os.getpgrp():
            os.killpg(pid, signal.SIGKILL)


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values of `--name=value`, `NAME=value` and `--name value`."""
    for word, after in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if equals:
            yield name, value
        elif word.startswith("-"):
            yield word, after


def _full(word: str) -> str:
    return str(Path(word).absolute()) if Path(word).is_file() else word


@dataclass(frozen=True, slots=True)
class Address:
    """A server that is reached by streamable HTTP. The value of `key_variable`, if it is set, is
    sent as a bearer token.
    """

    url: str
    key_variable: str

    def __post_init__(self) -> None:
        """Raises InputError on an address that cannot be used."""
        check_address(self.url, "strategy.url")
        check_variable(self.key_variable, "strategy.key_variable")

    def open(self, folder: Path | None = None) -> Transport:  # noqa: ARG002 - as of a command
        """Return the transport of a new session."""
        return self._connected

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        import httpx2  # noqa: PLC0415 - half a second to import
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        key = os.environ.get(self.key_variable)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=None) as client,
            streamable_http_client(self.url, http_client=client) as streams,
        ):
            yield streams
