"""The server: the tools over the official library, on stdio or streamable HTTP."""

from __future__ import annotations

import json
import logging
from functools import partial
from importlib.metadata import version
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.budget import BudgetReached
from memsys.service.mcp.tools import TOOLS, call_tool
from memsys.service.memory import Memory
from memsys.service.rest.access import AccessControl, AccessPolicy

PATH = "/mcp"
_ABOUT = (
    "A long-term memory. Search it before you answer what an earlier conversation may have "
    "settled; add what is worth remembering."
)
_MESSAGE_MOST = 500  # characters
_log = logging.getLogger(__name__)


def make_server(memory: Memory, user: str | None = None) -> Server[Any]:
    """Return the server of `memory`. `user`: the user_id of calls that name none; None: each must
    name one.
    """
    tools = [
        types.Tool(
            name=name,
            description=tool.description,
            input_schema=tool.schema_for(user),
            annotations=types.ToolAnnotations(
                read_only_hint=tool.reads, destructive_hint=tool.destroys, open_world_hint=False
            ),
        )
        for name, tool in TOOLS.items()
    ]

    async def list_tools(*_: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        ask = partial(call_tool, memory, params.name, params.arguments or {}, user)
        try:
            reply = await anyio.to_thread.run_sync(ask)
        except (InputError, LLMError, BudgetReached) as error:
            return _failed(str(error))
        except Exception:
            _log.exception("the tool %.60s failed", params.name)
            return _failed("internal error; see the server's log")
        text = json.dumps(reply, ensure_ascii=False)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, structured_content=reply)

    return Server(
        "memsys",
        version=version("memsys"),
        instructions=_ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call,
    )


def run_stdio(server: Server[Any]) -> None:
    """Serve the client at the other end of stdin and stdout until it closes them."""

    async def run() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)


def http_app(server: Server[Any], policy: AccessPolicy) -> ASGIApp:
    """Return the application that serves streamable HTTP at PATH, protected by `policy`. Requests
    are independent of each other: the server stores nothing of a client between them.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )  # AccessControl checks host and origin, as for REST
    return AccessControl(app, policy)


def _failed(message: str) -> types.CallToolResult:
    """Return an error of a tool: one line, encodable as UTF-8."""
    line = " ".join(message.split())[:_MESSAGE_MOST].encode("utf-8", "replace").decode()
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=f"error: {line}")]
    return types.CallToolResult(content=content, is_error=True)
