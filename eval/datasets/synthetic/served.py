"""The model of model.py as an OpenAI-compatible server on a loopback port of this process."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from eval.datasets.synthetic.libraries import (
    cognee,
    graphiti,
    hipporag,
    langmem,
    letta,
    lightrag,
    mem0ai,
)
from eval.datasets.synthetic.model import UnknownPromptError, answer
from eval.datasets.synthetic.reading import calling, json_message, tool_names
from memsys.core.tokens import count_tokens

# Modules with `message_of(body, misses)`: the message that answers a chat request of the library,
# with `content` and, if tools are called, `tool_calls`; None for a request of another library.
_LIBRARIES: Final = (cognee, graphiti, hipporag, langmem, letta, lightrag, mem0ai)
_TOOLS: Final = {
    "extract_entities": "entities",
    "establish_relationships": "relations",
    "delete_graph_memory": "conflicts",
    "ADD": "operations",
}
_ARGUMENTS: Final = {
    "ADD": ("why",),
    "NOOP": ("why",),
    "UPDATE": ("id", "content", "why"),
    "DELETE": ("id", "why"),
}
_REMEDY: Final = (
    "llm=grammar answers only prompts that write memories (strategy=mem0, mem0_graph, "
    "memory=facts, and the libraries cognee, graphiti, hipporag, langmem, letta, lightrag, mem0ai, "
    "mem0ai_graph); use reader=chain judge=none"
)


class GrammarServer:
    """A stateless server of the model: a reply depends on its request only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._base_url = ""

    def start(self) -> str:
        """Start listening unless already started; return `http://127.0.0.1:PORT/v1`."""
        with self._lock:
            if not self._base_url:
                server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
                threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
                weakref.finalize(self, server.server_close)  # first in, last out
                weakref.finalize(self, server.shutdown)
                self._base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
            return self._base_url


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, value = 200, reply(body)
        except UnknownPromptError as error:
            status, value = 400, {"error": {"message": f"{_REMEDY} ({error})"}}
        data = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


def reply(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a chat request: tool calls if offered tools, else JSON by the schema.

    `misses` of the request: see model.answer. Tokens are o200k, of contents and arguments.

    Raises UnknownPromptError for a prompt that the model cannot answer.
    """
    misses = body.get("misses", 0.0)
    answers = (library.message_of(body, misses) for library in _LIBRARIES)
    message = next((one for one in answers if one is not None), None) or _own_message(body, misses)
    calls = message.get("tool_calls", ())
    texts = [message["content"] or "", *(call["function"]["arguments"] for call in calls)]
    prompt_tokens, tokens = count_tokens(_prompt(body)), count_tokens("\n".join(texts))
    return {
        "id": "grammar",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": tokens,
            "total_tokens": prompt_tokens + tokens,
        },
    }


def _own_message(body: Mapping[str, Any], misses: float) -> dict[str, Any]:
    tools = tool_names(body)
    schema = body.get("response_format", {}).get("json_schema", {}).get("name")
    step = _TOOLS.get(tools[0], "") if tools else schema or "summary"
    answered = answer(step, _prompt(body), misses)
    if isinstance(answered, str):
        return {"role": "assistant", "content": answered}
    if not tools:
        wanted = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        more = [name for name in wanted.get("properties", ()) if name != step]
        return json_message(
            {step: answered, **{name: answer(name, _prompt(body), misses) for name in more}}
        )
    if step != "operations":
        return calling([(tools[0], {step: answered})], "")
    kinds = [(row["operation"], row) for row in answered]
    calls = [(kind, {name: row[name] for name in _ARGUMENTS[kind]}) for kind, row in kinds]
    return calling(calls, "")


def _prompt(body: Mapping[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])
