"""Procedural memory: the run of an agent, recorded by a model as one list of numbered steps, with
tool results verbatim, in one call as in mem0ai (mem0/memory/main.py, `_create_procedural_memory`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.knowledge.facts.fact import Event, fault, tokens
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt, load_prompt
from memsys.llm.reply import object_schema

_DETAILS: Final = ("findings", "navigation", "errors", "context")  # of a step, besides its result
_TEXT: Final = {"type": "string"}
_STEP: Final = object_schema(dict.fromkeys(("action", "result", *_DETAILS), _TEXT))
_SCHEMA: Final = {
    "title": "procedure",
    **object_schema(
        {
            "objective": _TEXT,
            "progress": _TEXT,
            "steps": {"type": "array", "items": _STEP},
            "next": _TEXT,
        }
    ),
}
_REQUEST: Final = """<history>
{history}
</history>

Write the record of this run. Reply with one JSON object and nothing else: "objective", \
"progress", "steps", "next"."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A recorded run: `text` is the text to store, `steps` the number of steps, `events` the call
    and its faults, `usage` its tokens.
    """

    text: str
    steps: int
    events: tuple[Event, ...]
    usage: Usage


def procedure(
    llm: LLM, messages: Sequence[Mapping[str, Any]], prompt: str | Prompt = "procedure"
) -> Procedure:
    """Return the record of an agent's run: objective, progress, numbered steps, next step.
    `messages` are in OpenAI's chat format: role, content (a text, a list of parts, or None) and
    tool_calls. `prompt`: a prompt, a shipped one's name, or a path. It is the system prompt,
    followed by the history and the request; one with the place {history} is the whole request.

    A result that occurs in no message is marked in the record and logged as `not_verbatim`. Raises
    InputError on invalid messages; LLMError if the model returned no step.
    """
    loaded = prompt if isinstance(prompt, Prompt) else load_prompt(prompt, [])
    parsed = [list(_lines(message, f"messages[{n}]")) for n, message in enumerate(messages)]
    if not any(parsed):
        raise InputError("messages: there is no text; give the messages of an agent's run")
    history = "\n".join(f"[{n}] {line}" for n, lines in enumerate(parsed, 1) for line, _ in lines)
    request = [{"role": "user", "content": loaded.fill(history=history)}]
    if "{history}" not in loaded.text:
        asked = Prompt("request", _REQUEST).fill(history=history)
        request = [{"role": "system", "content": loaded.text}, {"role": "user", "content": asked}]
    reply = llm.complete(request, schema=_SCHEMA)
    try:
        row = json.loads(reply.text)
        steps = [{name: _text(one, name) for name in _STEP["properties"]} for one in row["steps"]]
        objective, progress, then = (_text(row, name) for name in ("objective", "progress", "next"))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise LLMError(f"{llm.name}: the reply is no record of steps") from error
    if not steps:
        raise LLMError(f"{llm.name}: the record has no step")
    cost = tokens(reply.usage)
    events: list[Event] = [{"step": "procedure", "steps": len(steps), "tokens": cost}]
    texts = [words for lines in parsed for _, words in lines]
    written = [f"Objective: {objective}", *_labelled("Progress", progress)]
    for number, step in enumerate(steps, 1):
        result = step["result"]
        verbatim = any(result in words for words in texts)
        if not verbatim:
            events.append(fault("procedure", "not_verbatim", result, number=number))
        written.append(f"{number}. {step['action']}")
        written += _labelled(f"   Result{'' if verbatim else ' (not verbatim)'}", result)
        for name in _DETAILS:
            written += _labelled(f"   {name.capitalize()}", step[name])
    written += _labelled("Next step", then)
    return Procedure("\n".join(written), len(steps), tuple(events), reply.usage)


def _text(row: Mapping[str, Any], name: str) -> str:
    return str(row[name]).strip()


def _labelled(label: str, text: str) -> list[str]:
    """Return the line of a text, none if it is empty."""
    return [f"{label}: {text}"] if text else []


def _lines(message: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a message, each as it is shown and as plain words."""
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InputError(f"{where}: not a message; give role and content")
    role, content = str(message["role"]), message.get("content")
    for words in _texts(content, f"{where}.content"):
        yield f"{role}: {words}", words
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InputError(f"{where}.tool_calls: not a list; see OpenAI's chat protocol")
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise InputError(f"{where}.tool_calls: a call has no function; give name and arguments")
        words = str(function.get("arguments", ""))
        yield f"{role} calls {function.get('name')}({words})", words


def _texts(content: object, where: str) -> Iterator[str]:
    """Yield the texts of a message's content; other parts, such as images, are skipped."""
    if content is None:
        return
    parts = [content] if isinstance(content, str) else content
    if not isinstance(parts, list):
        raise InputError(f"{where}: neither text nor a list of parts")
    for part in parts:
        words = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(words, str) and words.strip():
            yield words
