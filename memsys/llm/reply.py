"""Strict reading of the replies of chat models: an unusable one is an error, not an answer.

A reply is validated by the part of JSON Schema that structured outputs use.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memsys.core.json_text import check_json, parse_json
from memsys.core.types import Usage
from memsys.llm.base import LLM, Completion, LLMError, ToolCall
from memsys.llm.pricing import MOST_TOKENS, usage_of

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def violation(value: object, schema: Mapping[str, Any], place: str = "reply") -> str | None:
    """Return the faults of `value` and their places, or None; of a list, those of its first faulty
    item. The keywords type, enum, const, anyOf, properties, required, additionalProperties and
    items are checked (JSON Schema 2020-12), others are ignored.
    """
    if "anyOf" in schema and all(violation(value, branch, place) for branch in schema["anyOf"]):
        return f"{place} fits no alternative"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"{place} is no {' or '.join(kinds)}"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum", [value])
    if not any(
        value == const and isinstance(value, bool) == isinstance(const, bool) for const in allowed
    ):
        return f"{place} is none of {allowed}"  # as JSON, where true is not 1
    faults: list[str | None] = []
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        if missing := [name for name in schema.get("required", []) if name not in value]:
            faults.append(f"{place} lacks {', '.join(missing)}")
        if schema.get("additionalProperties") is False and (more := set(value) - set(properties)):
            unknown = ", ".join(sorted(more))
            faults.append(f"{place} has {unknown}, which the schema does not have")
        faults += (
            violation(value[name], inner, f"{place}.{name}")
            for name, inner in properties.items()
            if name in value
        )
    elif isinstance(value, list) and "items" in schema:
        wrong = (violation(v, schema["items"], f"{place}[{i}]") for i, v in enumerate(value))
        faults.append(next(filter(None, wrong), None))
    return "; ".join(filter(None, faults)) or None


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):  # an int in Python
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, ()))


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has exactly these `properties`, all required."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_DECODER = json.JSONDecoder()
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_STARTS = 100  # of objects that are tried in one text
_MORE_TOKENS = (
    "raise llm.max_tokens, or llm.extra.max_completion_tokens for a model that reasons first"
)


def completion(
    answer: Mapping[str, Any],
    model: str,
    schema: Mapping[str, Any] | None = None,
    *,
    tools: bool = False,
) -> Completion:
    """Return the first choice of `answer`. `schema`: the JSON schema of its text, which is returned
    without what surrounds the JSON. `tools`: whether tools were offered. A text that was cut off by
    the limit of tokens is returned, with `finish` "length", unless there is a schema.

    Raises LLMError naming `model`, the fault and the finish reason: without a text (or a call of
    an offered tool), for a refusal, a filtered reply, calls of tools that were not offered, and
    token counts that are none.
    """
    check_answer(answer, model)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise LLMError(f"{model}: the answer has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise LLMError(f"{model}: the answer has no message")
    finish = choice.get("finish_reason")
    calls = _tool_calls(message.get("tool_calls") or [], model)
    text = message.get("content")
    why = _fault(text, message.get("refusal"), finish, bool(calls), tools=tools)
    if why is not None:
        raise LLMError(f"{model}: no usable answer ({why}; finish_reason {str(finish)[:40]})")
    text = text if isinstance(text, str) else ""
    if schema is not None and not calls:
        text = _of_schema(text, schema, model, finish)
    return Completion(
        text=text,
        usage=usage_of(answer) or Usage(calls=1),
        model=str(answer.get("model") or model),
        finish=str(finish),
        tool_calls=calls,
    )


def json_reply(llm: LLM, request: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object with exactly these `properties`, by their schemas, that `llm` replies
    to `request`. Raises LLMError if the reply is another.
    """
    schema = object_schema(properties)
    reply = llm.complete([{"role": "user", "content": request}], schema=schema)
    value: dict[str, Any] = parse_json(_of_schema(reply.text, schema, llm.name, reply.finish))
    return value


def check_answer(answer: Mapping[str, Any], model: str) -> None:
    """Raise LLMError naming `model` if `answer` is an error, which some gateways send with status
    200, or if a reported token count is not a whole number of 0 to 2^53. Counts that are absent or
    null are not reported.
    """
    if isinstance(answer.get("error"), dict):
        raise LLMError(f"{model}: {str(answer['error'].get('message'))[:200]}")
    reported = answer.get("usage")
    if reported is None:
        return
    if not isinstance(reported, dict):
        raise LLMError(f"{model}: usage is not an object")
    for name in ("prompt_tokens", "completion_tokens"):
        count = reported.get(name)
        if count is not None and (type(count) is not int or not 0 <= count <= MOST_TOKENS):
            raise LLMError(f"{model}: usage.{name} is {count!r:.40}, not a number of tokens")


def without_thinking(text: str) -> str:
    """Return `text` without what is between <think> tags, the last of which may be open."""
    return _THINKING.sub("", text)


def json_objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the outermost JSON objects amid other text, each with its own text, in order. An object
    beyond the limits of parse_json is skipped.
    """
    at = text.find("{")
    for _ in range(_STARTS):
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
            check_json(value)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield text[at:end], value
        at = text.find("{", end)


def _fault(
    text: object, refusal: object, finish: object, has_calls: bool, *, tools: bool
) -> str | None:
    """Return why a reply is unusable, or None."""
    if refusal:
        return f"the model refused: {str(refusal)[:200]}"
    if finish == "content_filter":
        return "its content was filtered"
    if has_calls:
        return None if tools else "it calls tools, and none were offered"
    if not isinstance(text, str):
        empty = "it has no content"
    elif not text.strip():
        empty = "its content is empty"
    elif "<think>" in text and not without_thinking(text).strip():
        empty = "it contains reasoning alone"
    else:
        return None
    if finish == "length":
        return f"{empty}: its tokens were used up; {_MORE_TOKENS}"
    # With tools on offer, a model may have nothing to call and nothing to say.
    return None if tools and isinstance(text, str) else empty


def _tool_calls(rows: Any, model: str) -> tuple[ToolCall, ...]:
    if not isinstance(rows, list):
        raise LLMError(f"{model}: tool_calls is not a list")
    calls = []
    for call in rows:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise LLMError(f"{model}: a tool call names no function")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        calls.append(ToolCall(str(call.get("id") or ""), function["name"], text))
    return tuple(calls)


def _of_schema(text: str, schema: Mapping[str, Any], model: str, finish: object) -> str:
    """Return the part of `text` that is JSON of `schema`: the whole, or the only such object in it
    (fences, an introduction or reasoning may surround it).
    """
    objects: list[tuple[str, Any]]
    try:
        objects = [(text, parse_json(text))]
    except ValueError:
        objects = list(json_objects(without_thinking(text)))
    faults = [violation(value, schema) for _, value in objects]
    fitting = [pair for pair, fault in zip(objects, faults, strict=True) if fault is None]
    if any(value != fitting[0][1] for _, value in fitting):
        raise LLMError(f"{model}: the reply has several different objects of the schema")
    if fitting:
        return fitting[0][0]
    fault = f"of the schema that was asked for: {faults[-1]}" if faults else "the JSON asked for"
    if not faults and finish == "length":
        fault += f"; it was cut off by the limit of tokens: {_MORE_TOKENS}"
    raise LLMError(f"{model}: the reply is not {fault}")
