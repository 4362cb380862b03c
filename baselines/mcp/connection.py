"""A connection to one server over the official client, for callers that are not asynchronous."""

from __future__ import annotations

import atexit
import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import wait
from contextlib import ExitStack
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from baselines.libraries.pipe import TAIL, LibraryError, with_last_output
from baselines.mcp.tools import Tool
from memsys.core.addresses import json_without_secrets, without_secrets

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
        except TimeoutError:
            raise self._end(f"the start: no answer within {timeout_s:g} s; closed") from None
        except Exception as error:
            raise self._end(f"the start: {_words(error)}") from None
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
            tools += [Tool(one.name, one.input_schema, one.description or "") for one in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        info = self._client.server_info
        about = {"name": info.name, "version": info.version} if info else {}
        return tools, json_without_secrets({**about, "protocol": self._client.protocol_version})

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
        texts = [one.text for one in result.content if one.type == "text"]
        if result.is_error:
            raise LibraryError(without_secrets(f"{tool}: {' '.join(texts)[:TAIL]}"))
        # A server may repeat a key.
        found = {"structured": result.structured_content, "texts": texts}
        cleaned: Mapping[str, Any] = json_without_secrets(found)
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
        except TimeoutError:
            future.cancel()
            raise self._end(f"{what}: no answer within {self._timeout_s:g} s; closed") from None
        except Exception as error:
            if type(error).__name__ == "MCPError" and "closed" not in str(error).lower():
                raise LibraryError(without_secrets(f"{what}: {error}"[:TAIL])) from None
            raise self._end(f"{what}: {_words(error)}") from None

    def _end(self, why: str) -> LibraryError:
        """Close the server; return the error to raise now and at every later call."""
        self.close()
        if self._stderr is not None:
            why = with_last_output(why, self._stderr)
        self._dead = without_secrets(why)
        return LibraryError(self._dead)


def _words(error: BaseException) -> str:
    """Return the message of `error`, or of the first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{error}".strip() or type(error).__name__
