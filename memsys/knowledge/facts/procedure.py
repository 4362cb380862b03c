"""Procedural memory: the run of an agent, recorded by a model as one list of numbered steps, with
tool results verbatim, in one call as in mem0ai (mem0/memory/main.py, `_create_procedural_memory`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Literal

from memsys.core.declared import Count
from memsys.core.errors import InputError
from memsys.core.yaml_text import load_table
from memsys.knowledge.facts.fact import Event, fault, tokens
from memsys.llm.base import LLM, Completion, LLMError
from memsys.llm.prompt import Prompt, load_prompt
from memsys.llm.reply import violation, without_thinking

_TABLE: Final = load_table(Path(__file__).with_name("procedure.yaml"))
_RECORD: Final = _TABLE["record"]
_STEP: Final = tuple(_RECORD["properties"]["steps"]["items"]["properties"])
_JSON: Final = """Write the record of this run. Reply with one JSON object and nothing else: \
"objective", "progress", "steps", "next"."""
_TEXT_REQUEST: Final = "Write the procedural memory of this run."
_SHIPPED: Final = "procedure"  # the prompt whose record has a schema
_FENCES = re.compile(r"\s*```[^\n]*\n(.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class ProcedureSettings:
    """Settings of the record of a run. `messages`: sent with their roles, or as one numbered
    history between marks, which any server accepts and which cannot instruct the model as a message
    can. `max_tokens`: of a record, if that is more than the model's own limit. `prompt`: a shipped
    prompt or a path.
    """

    messages: Literal["roles", "history"] = "roles"
    max_tokens: Count | None = 8192
    prompt: str = _SHIPPED

    @cached_property
    def loaded(self) -> Prompt:
        """The prompt. Raises InputError if it is missing."""
        return load_prompt(self.prompt, [])


def procedure(
    llm: LLM,
    messages: Sequence[Mapping[str, Any]],
    settings: ProcedureSettings,
    prompt: str | None = None,
) -> tuple[str, list[Event]]:
    """Return the record of an agent's run, as text to store, and the events of the call with its
    faults. `messages` are in OpenAI's chat format: role, content (a text, a list of parts, or
    None), tool_calls and tool_call_id.

    The system prompt comes first, then the messages, then the request; a prompt with the place
    {history} is the whole request instead. By the shipped prompt, the record has objective,
    progress, numbered steps and the next step; a result that occurs in no message is marked in it
    and logged as `not_verbatim`. By another one, or by the text `prompt` in its place, it is what
    the model replies, without code fences.

    Raises InputError on invalid messages; LLMError without a step, or without a whole reply.
    """
    loaded = settings.loaded if prompt is None else Prompt("prompt", prompt)
    parsed = [list(_lines(message, f"messages[{n}]")) for n, message in enumerate(messages)]
    if not any(parsed):
        raise InputError("messages: there is no text; give the messages of an agent's run")
    with_schema = loaded.name == _SHIPPED
    history = "\n".join(f"[{n}] {line}" for n, lines in enumerate(parsed, 1) for line, _ in lines)
    asked = _JSON if with_schema else _TEXT_REQUEST
    if "{history}" in loaded.text:
        request = [{"role": "user", "content": loaded.fill(history=history)}]
    elif settings.messages == "history":
        asked = f"<history>\n{history}\n</history>\n\n{asked}"
        request = [_message("system", loaded.text), _message("user", asked)]
    else:
        run = as_chat(messages, [[line for line, _ in lines] for lines in parsed])
        request = [_message("system", loaded.text), *run, _message("user", asked)]
    schema = _RECORD if with_schema else None
    reply = llm.complete(request, schema=schema, max_tokens=settings.max_tokens)
    if with_schema:
        return _record(reply, llm.name, [words for lines in parsed for _, words in lines])
    if reply.finish == "length":
        raise LLMError(f"{llm.name}: the record was cut off; raise procedure.max_tokens")
    text = without_thinking(reply.text).strip()
    fenced = _FENCES.fullmatch(text)
    event = {"step": "procedure", "tokens": tokens(reply.usage)}
    return fenced[1] if fenced else text, [event]


def _record(reply: Completion, model: str, texts: Sequence[str]) -> tuple[str, list[Event]]:
    """Return the record in a `reply` of the schema, and its events. `texts`: of the messages,
    verbatim.
    """
    row = json.loads(reply.text)
    steps = [{name: step[name].strip() for name in _STEP} for step in row["steps"]]
    objective, progress, then = (row[name].strip() for name in ("objective", "progress", "next"))
    if not steps:
        raise LLMError(f"{model}: the record has no step")
    cost = tokens(reply.usage)
    events: list[Event] = [{"step": "procedure", "steps": len(steps), "tokens": cost}]
    written = [f"Objective: {objective}", *_labelled_line("Progress", progress)]
    for number, step in enumerate(steps, 1):
        result = step["result"]
        verbatim = any(result in words for words in texts)
        if not verbatim:
            events.append(fault("procedure", "not_verbatim", result, number=number))
        written.append(f"{number}. {step['action']}")
        written += _labelled_line(f"   Result{'' if verbatim else ' (not verbatim)'}", result)
        for name in _STEP[2:]:
            written += _labelled_line(f"   {name.capitalize()}", step[name])
    written += _labelled_line("Next step", then)
    return "\n".join(written), events


def _message(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def as_chat(
    messages: Sequence[Mapping[str, Any]], lines: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    """Return `messages` as a server accepts them: tool calls that are all answered by the messages
    after them remain calls and results; other calls and results become text. `lines`: each message
    as text; one without any is left out.
    """
    chat: list[dict[str, Any]] = []
    answered: set[str] = set()
    for n, (message, shown) in enumerate(zip(messages, lines, strict=True)):
        role, words = message["role"], "\n".join(_texts(message.get("content")))
        if role == "tool" and message.get("tool_call_id") in answered:
            chat.append({**_message("tool", words), "tool_call_id": message["tool_call_id"]})
            continue
        calls = message.get("tool_calls") or []
        answered = _answered_ids(calls, messages[n + 1 :])
        if not shown:
            continue
        if answered:
            sent = [{**call, "type": "function"} for call in calls]
            chat.append({"role": role, "content": words or None, "tool_calls": sent})
        elif role in ("user", "assistant", "system") and not calls:
            chat.append(_message(role, words))
        else:
            chat.append(_message("assistant" if role == "assistant" else "user", "\n".join(shown)))
    return chat


def _answered_ids(calls: Sequence[Any], later: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the ids of `calls` if the tool messages at the beginning of `later` answer them all,
    else none.
    """
    results = takewhile(lambda message: message["role"] == "tool", later)
    there = {message["tool_call_id"] for message in results if message.get("tool_call_id")}
    ids = {call.get("id") or "" for call in calls}
    return ids if ids <= there and len(ids) == len(calls) else set()


def _labelled_line(label: str, text: str) -> list[str]:
    """Return the line of a text, none if it is empty."""
    return [f"{label}: {text}"] if text else []


def _lines(message: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a message, each as it is shown and as plain words."""
    _check(message, _TABLE["message"], where)
    role = message["role"]
    for words in _texts(message.get("content")):
        yield f"{role}: {words}", words
    for name, arguments in tool_calls(message, where):
        yield f"{role} calls {name}({arguments})", arguments


def tool_calls(message: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    """Yield name and arguments of the tool calls of a message. Raises InputError on an invalid
    one, and on an id or a tool_call_id that is no text.
    """
    _check(message, _TABLE["calls"], where)
    for call in message.get("tool_calls") or ():
        yield str(call["function"].get("name")), str(call["function"].get("arguments", ""))


def _check(message: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    plain = dict(message) if isinstance(message, Mapping) else message
    place, _, wrong = (violation(plain, schema, where) or "").partition(" ")
    if wrong:
        raise InputError(f"{place}: {wrong}; use the messages of OpenAI's chat protocol")


def _texts(content: str | Sequence[Any] | None) -> Iterator[str]:
    """Yield the texts of a message's content; other parts, such as images, are skipped."""
    for part in [content] if isinstance(content, str) else content or ():
        words = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(words, str) and words.strip():
            yield words
