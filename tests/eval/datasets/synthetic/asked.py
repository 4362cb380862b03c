"""Requests to `llm=grammar` as the libraries send them, and parts of its replies."""

import json
from typing import Any

from eval.datasets.synthetic.served import reply

Body = dict[str, Any]


def chat(*contents: str, tools: tuple[str, ...] = ()) -> Body:
    """A request of these contents: one of a user, or after a system message."""
    roles = ("system", "user", "assistant", "user") if len(contents) > 1 else ("user",)
    pairs = zip(roles, contents, strict=False)
    body: Body = {"model": "grammar", "messages": [{"role": r, "content": c} for r, c in pairs]}
    return body | ({"tools": [{"function": {"name": one}} for one in tools]} if tools else {})


def message(body: Body, misses: float = 0.0) -> Body:
    """The message of the reply, whose usage and end belong to it."""
    answer = reply(body | {"misses": misses})
    (choice,) = answer["choices"]
    assert choice["finish_reason"] == (
        "tool_calls" if "tool_calls" in choice["message"] else "stop"
    )
    assert answer["usage"]["prompt_tokens"] > 0
    made: Body = choice["message"]
    return made


def content(body: Body, misses: float = 0.0) -> str:
    return str(message(body, misses)["content"])


def value(body: Body, misses: float = 0.0) -> Any:
    """The JSON of the reply."""
    return json.loads(content(body, misses))


def calls(body: Body, misses: float = 0.0) -> list[tuple[str, Any]]:
    """Names and arguments of the tools that the reply calls."""
    functions = [call["function"] for call in message(body, misses).get("tool_calls", ())]
    return [(one["name"], json.loads(one["arguments"])) for one in functions]
