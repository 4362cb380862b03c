"""An answer of the OpenAI protocol that calls tools, as a test writes them."""

from __future__ import annotations

import json
from typing import Any

from tests.memsys.llm.answers import Body, right_answer
from tests.memsys.llm.server import Behaviour, Handler


def calls(*made: tuple[str, str | dict[str, Any]], prefix: str = "c") -> Behaviour:
    """Call these tools, each with its arguments: a mapping, or a text that need not be JSON. Ids of
    the calls begin with `prefix`.
    """

    def behave(handler: Handler, body: Body) -> None:
        value = right_answer({"model": body["model"], "messages": body["messages"]})
        functions = [
            {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}
            for name, given in made
        ]
        rows = [
            {"id": f"{prefix}{i}", "type": "function", "function": f}
            for i, f in enumerate(functions)
        ]
        message = {"role": "assistant", "content": None, "tool_calls": rows}
        value["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
        handler.reply(200, value)

    return behave
