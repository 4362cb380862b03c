"""Strict parsing of chat answers: a missing field is an error, not an empty text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memsys.llm.base import Completion, LLMError, ToolCall
from memsys.llm.schema import violation
from memsys.llm.usage import usage_of
from memsys.types import Usage


def completion(
    answer: Mapping[str, Any], model: str, schema: Mapping[str, Any] | None = None
) -> Completion:
    """Return the first choice of `answer`. `schema`: the JSON schema its text must match.

    A text cut off by the length limit is returned, with `finish` "length", unless there is a
    schema. Raises LLMError naming `model` and what is wrong.
    """
    if isinstance(answer.get("error"), Mapping):  # some gateways send errors with status 200
        raise LLMError(f"{model}: {str(answer['error'].get('message'))[:200]}")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise LLMError(f"{model}: the answer has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise LLMError(f"{model}: the answer has no message")
    calls = _tool_calls(message.get("tool_calls") or [], model)
    text, finish = message.get("content"), choice.get("finish_reason")
    if not isinstance(text, str) and not calls:
        refusal = message.get("refusal")
        why = f"the model refused: {str(refusal)[:200]}" if refusal else "it has no content"
        raise LLMError(f"{model}: no usable answer ({why})")
    text = text if isinstance(text, str) else ""
    if schema is not None and not calls:
        _check_schema(text, schema, model, finish)
    return Completion(
        text=text,
        usage=usage_of(answer) or Usage(calls=1),
        model=str(answer.get("model") or model),
        finish=str(finish),
        tool_calls=calls,
    )


def _tool_calls(found: Any, model: str) -> tuple[ToolCall, ...]:
    if not isinstance(found, Sequence):
        raise LLMError(f"{model}: tool_calls is not a list")
    calls = []
    for call in found:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise LLMError(f"{model}: a tool call names no function")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        calls.append(ToolCall(str(call.get("id") or ""), function["name"], text))
    return tuple(calls)


def _check_schema(text: str, schema: Mapping[str, Any], model: str, finish: object) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        cut = "; it was cut off by the limit of tokens" if finish == "length" else ""
        raise LLMError(f"{model}: the reply is not the JSON that was asked for{cut}") from None
    wrong = violation(value, schema)
    if wrong is not None:
        raise LLMError(f"{model}: the reply is not of the schema that was asked for: {wrong}")
