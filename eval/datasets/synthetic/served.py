"""A model that knows the grammar of `dataset=synthetic` and extracts every fact it is asked for,
and the OpenAI-compatible server that offers it on a loopback port of this process.

The model sees only the prompts that write memories, as any model does: so all errors but its
`misses` are errors of the strategy.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.languages import VISIT, WorldFact, parse_question
from eval.datasets.synthetic.libraries.graphiti import graphiti
from eval.datasets.synthetic.libraries.graphs import cognee, hipporag, lightrag
from eval.datasets.synthetic.libraries.mem0ai import mem0ai
from eval.datasets.synthetic.libraries.tools import langmem, letta
from eval.datasets.synthetic.reading import (
    MissingPartError,
    calling,
    contents_of,
    day_in,
    entities_of,
    json_message,
    messages,
    numbered,
    part,
    read,
    stated,
    text_message,
    tool_names,
    triple,
)
from memsys.core.loopback import LoopbackServer, Reply, refusal
from memsys.core.tokens import count_tokens

# Each gives the message that answers a chat request of its library, with `content` and, if tools
# are called, `tool_calls`; None for a request of another library.
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
        self._server: LoopbackServer | None = None

    def start(self) -> str:
        """Start listening unless already started; return `http://127.0.0.1:PORT/v1`."""
        with self._lock:
            if self._server is None:
                self._server = LoopbackServer(_answered)
                weakref.finalize(self, self._server.stop)
            return self._server.base_url


def _answered(_path: str, _key: str, data: bytes) -> Reply:
    try:
        return 200, reply(json.loads(data))
    except UnknownPromptError as error:
        return 400, refusal(f"{_REMEDY} ({error})")


def reply(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a chat request: tool calls if offered tools, else JSON by the schema.

    `misses` of the request: see model.answer. Tokens are o200k, of contents and arguments.

    Raises UnknownPromptError for a prompt that the model cannot answer.
    """
    misses = body.get("misses", 0.0)
    answers = (library(body, misses) for library in _LIBRARIES)
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
        return text_message(answered)
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
    return "\n".join(contents_of(body))


Rows = list[dict[str, Any]]
_SUMMARY = "They tell each other of people, firms, towns and dishes."


class UnknownPromptError(Exception):
    """Raised for a prompt that this model cannot answer."""


def answer(step: str, prompt: str, misses: float = 0.0) -> str | Rows:
    """Return the reply to a `prompt` of `step`.

    The reply is a text for `summary`, else the rows of the requested list (`facts`, `operations`,
    `entities`, `relations`, `conflicts`). A share `misses` of the messages is overlooked, a
    different one in each step, but the same in all calls of a step.

    Raises UnknownPromptError if the prompt lacks a part or the step is unknown.
    """
    try:
        return _STEPS[step](prompt, misses)
    except (KeyError, MissingPartError) as error:
        raise UnknownPromptError(f"no prompt of {', '.join(_STEPS)}") from error


def _facts(prompt: str, misses: float) -> Rows:
    rows = []
    said = messages(part(prompt, "new_messages"), None)
    for message, language, fact in stated(said, "facts", misses):
        day = language.parse(fact.value) if fact.relation.startswith(VISIT) else None
        rows.append(
            {
                "title": fact.relation.split()[0],
                "content": language.restate(fact),
                "when": day.isoformat() if day else "",
                "speaker": message.speaker,
                "turns": [message.number],
            }
        )
    return rows


def _operations(prompt: str, misses: float) -> Rows:
    """Update the first fact with a replaced value; delete further ones."""
    del misses  # facts in the prompt cannot be overlooked
    facts = list(read(part(prompt, "new_fact"), date.max))
    rows: Rows = []
    for number, text in numbered(part(prompt, "stored_facts")):
        for _, old in read(text, date.max):
            for language, new in facts:
                if (old.subject, old.relation) != (new.subject, new.relation):
                    continue
                if old.value == new.value:
                    return [_operation("NOOP", why="known already")]
                kind, content = ("DELETE", "") if rows else ("UPDATE", language.restate(new))
                rows.append(_operation(kind, number, content, why="another value holds now"))
    return rows or [_operation("ADD", why="not known yet")]


def _operation(kind: str, number: int = 0, content: str = "", *, why: str) -> dict[str, Any]:
    return {"operation": kind, "id": number, "content": content, "why": why}


def _entities(prompt: str, misses: float) -> Rows:
    text = _material(prompt, "text")
    kinds: dict[str, str] = {}
    for _, line in numbered(text):
        if (question := parse_question(line)) is not None:
            subject, (first, *_), _ = question[1]
            kinds |= entities_of(WorldFact(subject, first, ""))
    said = day_in(prompt, r"The text is of (.+?)\.")
    if not kinds and (said is not None or text.startswith("[")):
        for _, _, fact in stated(messages(text, said), "entities", misses):
            kinds |= entities_of(fact)
    return [{"entity": name, "entity_type": kind} for name, kind in kinds.items()]


def _relations(prompt: str, misses: float) -> Rows:
    said = day_in(prompt, r"The messages are of (.+?)\.")
    return [
        {"source": source, "relationship": name, "destination": end, "turns": [message.number]}
        for message, language, fact in stated(
            messages(_material(prompt, "messages"), said), "relations", misses
        )
        for source, name, end in [triple(language, fact)]
    ]


def _material(prompt: str, name: str) -> str:
    """Return the messages of a prompt for the graph alone, or of one for facts and graph."""
    try:
        return part(prompt, name)
    except MissingPartError:
        return part(prompt, "new_messages")


def _conflicts(prompt: str, misses: float) -> Rows:
    del misses
    new = {(f.subject, f.relation): f.value for _, f in read(part(prompt, "new_relations"))}
    return [
        {"relation": number, "why": "another one holds now"}
        for number, text in numbered(part(prompt, "stored_relations"))
        for _, old in read(text.partition(" (stated ")[0])
        if new.get((old.subject, old.relation), old.value) != old.value
    ]


def _summary(prompt: str, misses: float) -> str:
    del misses
    part(prompt, "latest_conversation")
    return _SUMMARY


_STEPS: Final[Mapping[str, Callable[[str, float], str | Rows]]] = {
    "facts": _facts,
    "operations": _operations,
    "entities": _entities,
    "relations": _relations,
    "conflicts": _conflicts,
    "summary": _summary,
}
