"""What a server may do wrong: behaviours for FaultyServer's script."""

import json
import socket
import struct
from typing import Any

from tests.memsys.llm.answers import Body, right_answer
from tests.memsys.llm.server import Behaviour, Handler

SOON = {"retry-after-ms": "10"}  # so that tests do not wait


def status(
    code: int,
    message: str = "out of order",
    kind: str | None = None,
    headers: dict[str, str] | None = None,
) -> Behaviour:
    """An error in the protocol's own words; `kind` is its type and code."""
    value = {"error": {"message": message, "type": kind, "code": kind}}
    return lambda handler, _: handler.reply(code, value, SOON if headers is None else headers)


def answer(value: Any) -> Behaviour:
    """Status 200 and `value` as JSON, whatever it is."""
    return lambda handler, _: handler.reply(200, value)


def message(value: Body, finish: str) -> Behaviour:
    """A chat answer with this message of the assistant."""

    def behave(handler: Handler, body: Body) -> None:
        answered = right_answer({"model": body["model"], "messages": body["messages"]})
        chat_message = {"role": "assistant", **value}
        answered["choices"][0] |= {"message": chat_message, "finish_reason": finish}
        handler.reply(200, answered)

    return behave


def says(text: str | None, finish: str = "stop") -> Behaviour:
    """A chat answer of these words."""
    return message({"content": text}, finish)


def raw(data: bytes) -> Behaviour:
    """Status 200 and these bytes, said to be JSON."""

    def behave(handler: Handler, _: Body) -> None:
        handler.begin(200, len(data))
        handler.wfile.write(data)

    return behave


def half_body(handler: Handler, body: Body) -> None:
    """Half of a right answer, then the end of the connection."""
    data = json.dumps(right_answer(body)).encode()
    handler.begin(200, len(data))
    handler.wfile.write(data[: len(data) // 2])
    handler.close_connection = True


def reset(handler: Handler, _: Body) -> None:
    """The connection is reset before any answer."""
    # Lingering for 0 s makes the system send RST instead of FIN.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.socket(fileno=handler.connection.detach()).close()
    handler.close_connection = True


def hang(seconds: float = 60) -> Behaviour:
    """No answer for so long, and none after."""

    def behave(handler: Handler, _: Body) -> None:
        handler.server.stopping.wait(seconds)
        handler.close_connection = True

    return behave


def drip(pause_s: float) -> Behaviour:
    """A right answer, a byte at a time."""

    def behave(handler: Handler, body: Body) -> None:
        data = json.dumps(right_answer(body)).encode()
        handler.begin(200, len(data))
        for byte in data:
            handler.wfile.write(bytes([byte]))
            if handler.server.stopping.wait(pause_s):
                break

    return behave


def calls(*made: tuple[str, str | dict[str, Any]], prefix: str = "c") -> Behaviour:
    """Call these tools, each with its arguments: a mapping, or a text that need not be JSON. Ids of
    the calls begin with `prefix`.
    """
    functions = [
        {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}
        for name, given in made
    ]
    rows = [
        {"id": f"{prefix}{i}", "type": "function", "function": f} for i, f in enumerate(functions)
    ]
    return message({"content": None, "tool_calls": rows}, "tool_calls")
