"""Right answers of the OpenAI protocol, computed from the request alone."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Body = dict[str, Any]


def right_answer(body: Mapping[str, Any]) -> Body:
    """Vectors for texts; else JSON of the schema, a call of the first tool, or words."""
    if "input" in body:
        return _vectors(body)
    digest = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).hexdigest()[:8]
    message: Body = {"role": "assistant", "content": f"answer {digest}"}
    finish = "stop"
    if "response_format" in body:
        schema = body["response_format"]["json_schema"]["schema"]
        message["content"] = json.dumps(value_of(schema, digest))
    elif "tools" in body:
        tool = body["tools"][0]["function"]
        arguments = json.dumps(value_of(tool["parameters"], digest))
        function = {"name": tool["name"], "arguments": arguments}
        calls = [{"id": f"call_{digest}", "type": "function", "function": function}]
        message, finish = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
    words = sum(len(str(one["content"]).split()) for one in body["messages"])
    return {
        "id": f"chatcmpl-{digest}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": words, "completion_tokens": 2, "total_tokens": words + 2},
    }


def value_of(schema: Mapping[str, Any], word: str) -> Any:
    """A value of a JSON schema, with `word` wherever a text is wanted."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {k: value_of(inner, word) for k, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [value_of(schema["items"], word)]
    return {"string": word, "integer": 1, "number": 0.5, "boolean": True, "null": None}[kind]


def _vectors(body: Mapping[str, Any]) -> Body:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    rows = [
        {"object": "embedding", "index": i, "embedding": _vector(text)}
        for i, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 7 * len(rows), "total_tokens": 7 * len(rows)}
    return {"object": "list", "data": rows, "model": body["model"], "usage": usage}


def _vector(text: str) -> list[float]:
    """Eight numbers that depend on the text."""
    return [byte / 255 + 0.01 for byte in hashlib.sha256(text.encode()).digest()[:8]]
