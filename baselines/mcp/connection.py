"""A connection to one server over the official client, for callers that are not asynchronous."""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as OutOfTime
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from baselines.libraries.pipe import TAIL, LibraryError, with_last_output
from baselines.mcp.tools import Tool
from memsys.core.addresses import json_without_secrets, without_secrets

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

_CLOSING_S = 15  # the client asks, ends and kills a process within seven
_ENDING_S = 1  # for the calls of a session that has ended
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
        self._client: Client | None = None
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        atexit.register(self.close)
        self._wait(self._started(), "the start")

    @property
    def is_closed(self) -> bool:
        """Return whether every later call fails: an error is then not an answer of the server."""
        return bool(self._dead)

    def tools(self) -> tuple[list[Tool], dict[str, Any]]:
        """Return the tools, and name, version and protocol of the server."""
        return self._wait(self._listed(), "the list of tools")

    def call(
        self, tool: str, arguments: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], dict[str, int]]:
        """Return the result of a tool as JSON values (`structured`, or else `texts`), and the
        number of bytes sent and received, as JSON. Raises LibraryError if the call fails.
        """
        result = self._wait(self._called(tool, arguments), tool)
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
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_CLOSING_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(_finish())
        finally:
            with suppress(RuntimeError):
                self._loop.close()

    async def _serve(self) -> None:
        from mcp import Client  # noqa: PLC0415 - a second to import

        try:
            async with Client(self._transport()) as client:
                self._client = client
                self._ready.set_result(None)
                await self._stop.wait()
        except (Exception, asyncio.CancelledError) as error:
            if not self._ready.done():
                self._ready.set_exception(LibraryError(_words(error)))
                await self._stop.wait()  # the loop must not end before the start has its reason

    async def _started(self) -> None:
        stopped = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((self._ready, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if self._ready.done():
            self._ready.result()

    async def _listed(self) -> tuple[list[Tool], dict[str, Any]]:
        assert self._client is not None  # noqa: S101 - for the type checker
        tools, cursor = [], None
        for _ in range(_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += [Tool(one.name, one.input_schema, one.description or "") for one in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        info = self._client.server_info
        about = {"name": info.name, "version": info.version} if info else {}
        return tools, json_without_secrets({**about, "protocol": self._client.protocol_version})

    async def _called(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        assert self._client is not None  # noqa: S101 - for the type checker
        return await self._client.call_tool(tool, dict(arguments))

    def _wait(self, work: Coroutine[Any, Any, Result], what: str) -> Result:
        """Return the result of `work`. Any failure but one that the server reports ends it."""
        if self._dead:
            work.close()
            raise LibraryError(self._dead)
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop has ended
            work.close()
            raise self._end(f"{what}: the server has ended") from None
        try:
            return future.result(self._timeout_s)
        except OutOfTime:
            future.cancel()
            raise self._end(f"{what}: no answer within {self._timeout_s:g} s; closed") from None
        except CancelledError:
            raise self._end(f"{what}: the server has ended") from None
        except Exception as error:
            if type(error).__name__ == "MCPError" and "closed" not in str(error).lower():
                raise LibraryError(without_secrets(f"{what}: {error}"[:TAIL])) from None
            raise self._end(f"{what}: {_words(error)}") from None
        except BaseException:
            self.close()  # the run ends
            raise

    def _end(self, why: str) -> LibraryError:
        """Close the server; return the error to raise now and at every later call."""
        self.close()
        if self._stderr is not None:
            why = with_last_output(why, self._stderr)
        self._dead = without_secrets(why)
        return LibraryError(self._dead)


async def _finish() -> None:
    """Let the calls that wait end, or cancel them."""
    waiting = asyncio.all_tasks() - {asyncio.current_task()}
    if waiting:
        _, late = await asyncio.wait(waiting, timeout=_ENDING_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def _words(error: BaseException) -> str:
    """Return the message of `error`, or of the first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{error}".strip() or type(error).__name__
