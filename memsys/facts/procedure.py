"""How an agent went about a task: a run's history as one numbered record of its steps.

A memory of the kind `procedural`, as mem0ai has it (mem0/memory/main.py,
`_create_procedural_memory`): one call, and what tools gave back is kept word for word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memsys.errors import InputError
from memsys.facts.base import Event, fault, tokens
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import load_prompt
from memsys.types import Usage

_TEXT: Final = {"type": "string"}


def _object(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


_STEPS: Final = {"type": "array", "items": _object(action=_TEXT, result=_TEXT)}
_FORM: Final = {"title": "procedure", **_object(task=_TEXT, steps=_STEPS, state=_TEXT)}


@dataclass(frozen=True, slots=True)
class Procedure:
    """`text` is the record, to be stored as it is; `steps` counts them. `events` are the call and
    its faults, `usage` what it took.
    """

    text: str
    steps: int
    events: tuple[Event, ...]
    usage: Usage


def procedure(
    llm: LLM, messages: Sequence[Mapping[str, Any]], prompt: str = "procedure"
) -> Procedure:
    """The record of the run that `messages` tell, in OpenAI's chat form: role, content (a text, a
    list of parts, or None) and tool_calls. `prompt`: a name under conf/prompts or a path.

    A result that stands in no message is a fault `not_verbatim`, and is marked in the record.
    Raises InputError on what is no history, or a prompt without {history}; LLMError where the model
    wrote no step.
    """
    loaded = load_prompt(prompt, ["history"])
    told = [list(_lines(message, f"messages[{n}]")) for n, message in enumerate(messages)]
    if not any(told):
        raise InputError("messages: there is no text; give the messages of an agent's run")
    history = "\n".join(f"[{n}] {line}" for n, lines in enumerate(told, 1) for line, _ in lines)
    text = loaded.fill(history=history)
    reply = llm.complete([{"role": "user", "content": text}], schema=_FORM)
    try:
        row = json.loads(reply.text)
        steps = [(str(one["action"]).strip(), str(one["result"]).strip()) for one in row["steps"]]
        task, state = str(row["task"]).strip(), str(row["state"]).strip()
    except (ValueError, TypeError, KeyError) as error:
        raise LLMError(f"{llm.name}: the reply is no record of steps") from error
    if not steps:
        raise LLMError(f"{llm.name}: the record has no step")
    cost = tokens(reply.usage)
    events: list[Event] = [{"step": "procedure", "steps": len(steps), "tokens": cost}]
    said = [words for lines in told for _, words in lines]
    written = [f"Task: {task}"]
    for number, (action, result) in enumerate(steps, 1):
        written.append(f"{number}. {action}")
        if result:
            verbatim = any(result in words for words in said)
            written.append(f"   Result{'' if verbatim else ' (not verbatim)'}: {result}")
            if not verbatim:
                events.append(fault("procedure", "not_verbatim", result, number=number))
    if state:
        written.append(f"State: {state}")
    return Procedure("\n".join(written), len(steps), tuple(events), reply.usage)


def _lines(message: object, where: str) -> Iterator[tuple[str, str]]:
    """What a message tells, as it is shown, and the words alone."""
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InputError(f"{where}: is no message; give role and content")
    role, content = str(message["role"]), message.get("content")
    for words in _texts(content, f"{where}.content"):
        yield f"{role}: {words}", words
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InputError(f"{where}.tool_calls: is no list; give it as the protocol has it")
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise InputError(f"{where}.tool_calls: a call has no function; give name and arguments")
        words = str(function.get("arguments", ""))
        yield f"{role} calls {function.get('name')}({words})", words


def _texts(content: object, where: str) -> Iterator[str]:
    """The texts of a content; parts that are none, such as images, are passed over."""
    if content is None:
        return
    parts = [content] if isinstance(content, str) else content
    if not isinstance(parts, list):
        raise InputError(f"{where}: is neither text nor a list of parts")
    for part in parts:
        words = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(words, str) and words.strip():
            yield words
