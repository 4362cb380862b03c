"""A model that knows the grammar of `dataset=synthetic` and extracts every fact it is asked for,
and the OpenAI-compatible server that offers it on a loopback port of this process.

The model sees only the prompts that write memories, as any model does: so all errors but its
`misses` are errors of the strategy.
"""

import json
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.languages import LANGUAGES
from eval.datasets.synthetic.libraries.graphs import cognee, graphiti, hipporag, lightrag
from eval.datasets.synthetic.libraries.texts import langmem, letta, mem0ai
from eval.datasets.synthetic.reading import (
    PROMPTS,
    Message,
    MissingPartError,
    PromptMessage,
    Request,
    calling,
    entities_asked_for,
    entities_of,
    json_message,
    part,
    read,
    text_message,
    values_in,
)
from memsys.core.loopback import LoopbackServer, Reply, completion, refusal
from memsys.core.tokens import count_tokens

# Each gives the message that answers a chat request of its library, with `content` and, if tools
# are called, `tool_calls`; None for a request of another library.
_LIBRARIES: Final = (cognee, graphiti, hipporag, langmem, letta, lightrag, mem0ai)
Rows = list[dict[str, Any]]
_NUMBERED = re.compile(r"(\d+)\. (.*)")


class UnknownPromptError(Exception):
    """Raised for a prompt that this model cannot answer."""


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
        return 400, refusal(f"{PROMPTS['remedy']} ({error})")


def reply(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the answer to a chat request: tool calls if offered tools, else JSON by the schema.

    `misses` of the request: the share of the messages that is overlooked, a different one in each
    step, but the same in all calls of a step. Tokens are o200k, of contents and arguments.

    Raises UnknownPromptError for a prompt that the model cannot answer.
    """
    asked = Request(body, body.get("misses", 0.0))
    answers = (answer for library in _LIBRARIES if (answer := library(asked)) is not None)
    message = next(answers, None) or _own_message(asked)
    calls = message.get("tool_calls", ())
    texts = [message["content"] or "", *(call["function"]["arguments"] for call in calls)]
    prompt_tokens, tokens = count_tokens(_prompt(asked)), count_tokens("\n".join(texts))
    return completion(body, message, prompt_tokens, tokens)


def _own_message(asked: Request) -> Message:
    """Return the answer to a prompt of this project: a text for the step `summary`, else the rows
    of each list that the tool or the schema names.
    """
    tools, schema = asked.tools, asked.schema
    step = PROMPTS["tools"].get(tools[0], "") if tools else schema.get("name", "summary")
    names = dict.fromkeys([step, *schema.get("schema", {}).get("properties", ())])
    prompt = _prompt(asked)
    try:
        if step == "summary":
            part(prompt, "latest_conversation")
            return text_message("They tell each other of people, firms, towns and dishes.")
        rows = {name: list(_STEPS[name](asked, prompt)) for name in names}
    except (KeyError, MissingPartError) as error:
        raise UnknownPromptError(f"no prompt of {', '.join([*_STEPS, 'summary'])}") from error
    if not tools:
        return json_message(rows)
    if step != "operations":
        return calling([(tools[0], rows)], "")
    calls = []
    for row in rows[step]:
        kind = row["operation"]
        calls.append((kind, {name: row[name] for name in PROMPTS["arguments"][kind]}))
    return calling(calls, "")


def _prompt(asked: Request) -> str:
    return "\n".join(asked.contents)


def _facts(asked: Request, prompt: str) -> Iterator[dict[str, Any]]:
    for message, stated in asked.stated(_messages(part(prompt, "new_messages"), None), "facts"):
        day = stated.language.parse(stated.fact.value) if stated.fact.place else None
        yield {
            "title": stated.fact.relation.split()[0],
            "content": stated.sentence,
            "when": day.isoformat() if day else "",
            "speaker": message.speaker,
            "turns": [message.number],
        }


def _operations(_: Request, prompt: str) -> Rows:
    """Update the first fact with a replaced value; delete further ones."""
    facts = list(read(part(prompt, "new_fact")))
    rows: Rows = []
    for number, text in _numbered(part(prompt, "stored_facts")):
        for old in (stated.fact for stated in read(text)):
            for new in facts:
                if old == new.fact:
                    return [_operation("NOOP", why="known already")]
                if old.key == new.fact.key:
                    kind, content = ("DELETE", "") if rows else ("UPDATE", new.sentence)
                    rows.append(_operation(kind, number, content, why="another value holds now"))
    return rows or [_operation("ADD", why="not known yet")]


def _operation(kind: str, number: int = 0, content: str = "", *, why: str) -> dict[str, Any]:
    return {"operation": kind, "id": number, "content": content, "why": why}


def _entities(asked: Request, prompt: str) -> Rows:
    text, day = _material(prompt, "text"), _day_in(prompt, r"The text is of (.+?)\.")
    kinds: dict[str, str] = {}
    for _, line in _numbered(text):
        kinds |= entities_asked_for(line)
    if not kinds and (day is not None or text.startswith("[")):
        for _, stated in asked.stated(_messages(text, day), "entities"):
            kinds |= entities_of(stated.fact)
    return [{"entity": name, "entity_type": kind} for name, kind in kinds.items()]


def _relations(asked: Request, prompt: str) -> Iterator[dict[str, Any]]:
    day = _day_in(prompt, r"The messages are of (.+?)\.")
    for message, stated in asked.stated(_messages(_material(prompt, "messages"), day), "relations"):
        source, name, end = stated.triple
        yield {
            "source": source,
            "relationship": name,
            "destination": end,
            "turns": [message.number],
        }


def _conflicts(_: Request, prompt: str) -> Rows:
    new = values_in([part(prompt, "new_relations")])
    return [
        {"relation": number, "why": "another one holds now"}
        for number, text in _numbered(part(prompt, "stored_relations"))
        for old in read(text.partition(" (stated ")[0])
        if new.get(old.fact.key, old.fact.value) != old.fact.value
    ]


_STEPS: Final[Mapping[str, Callable[[Request, str], Rows | Iterator[dict[str, Any]]]]] = {
    "facts": _facts,
    "operations": _operations,
    "entities": _entities,
    "relations": _relations,
    "conflicts": _conflicts,
}


def _material(prompt: str, name: str) -> str:
    """Return the messages of a prompt for the graph alone, or of one for facts and graph."""
    try:
        return part(prompt, name)
    except MissingPartError:
        return part(prompt, "new_messages")


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of lines such as `3. text`."""
    for match in filter(None, map(_NUMBERED.fullmatch, text.splitlines())):
        yield int(match[1]), match[2]


def _messages(text: str, day: date | None) -> Iterator[PromptMessage]:
    """Yield the messages in `text`, dated by the day above each, else by `day`.

    Raises MissingPartError if there is neither.
    """
    for line in text.splitlines():
        if line.startswith("["):
            day = _day_in(line, r"\[(.+?)\]")
        for number, content in _numbered(line):
            if day is None:
                raise MissingPartError("a day")
            speaker, _, words = content.partition(": ")
            yield PromptMessage(number, speaker, words, day)


def _day_in(text: str, pattern: str) -> date | None:
    """Return the day that `pattern` captures, written as `8 May 2023, 13:56`; None if no match."""
    match = re.search(pattern, text)
    return LANGUAGES["en"].parse(match[1].partition(",")[0]) if match else None
