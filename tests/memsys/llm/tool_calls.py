"""An answer of the OpenAI protocol that calls tools, as a test writes them."""

from __future__ import annotations

import json
from typing import Any

from tests.memsys.llm.faults import message
from tests.memsys.llm.server import Behaviour


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
