"""Chat requests to the model that knows the grammar: facts in their prompts, and its replies."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from eval.datasets.synthetic.languages import (
    LANGUAGES,
    RELATIONS,
    Language,
    WorldFact,
    parse_question,
)
from memsys.core.yaml_text import load_table

PROMPTS = load_table(Path(__file__).with_name("prompts.yaml"))
Message = dict[str, Any]  # of the assistant
_KINDS = {"firm": "organisation", "town": "place", "dish": "thing"}
ANY_DAY = date(2000, 1, 1)  # of messages whose prompt has no day


class PromptMessage(NamedTuple):
    """A message of a prompt: `number` as shown, `day` of its session."""

    number: int
    speaker: str
    text: str
    day: date


class Stated(NamedTuple):
    """A fact in a text, and the language of the text."""

    language: Language
    fact: WorldFact

    @property
    def sentence(self) -> str:
        """The fact as a full sentence."""
        return self.language.restate(self.fact)

    @property
    def triple(self) -> tuple[str, str, str]:
        """Source, relation and destination of the fact in a graph, which stores no days."""
        fact = self.fact
        if fact.place is not None:
            return fact.subject, "visited", fact.place
        return fact.subject, self.language.names[fact.relation], fact.value


@dataclass(frozen=True)
class Request:
    """A chat request; the model overlooks the share `misses` of the messages in its prompt."""

    body: Mapping[str, Any]
    misses: float = 0.0

    @cached_property
    def contents(self) -> list[str]:
        """Contents of the messages; an empty one if there is none."""
        return [str(message["content"]) for message in self.body["messages"]] or [""]

    @property
    def tools(self) -> list[str]:
        """Names of the tools that it offers."""
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]

    @property
    def schema(self) -> Mapping[str, Any]:
        """Name and schema of the JSON that it asks for; {} for none."""
        return dict(self.body.get("response_format", {}).get("json_schema", {}))

    def noticed(
        self, messages: str | Iterable[PromptMessage], step: str, day: date = ANY_DAY
    ) -> Iterator[PromptMessage]:
        """Yield all but the share `misses` of the messages, selected by a hash of step, text and
        day. `messages`: those, or lines `Speaker: content` of the `day`.
        """
        if isinstance(messages, str):
            rows = (line.partition(": ") for line in messages.splitlines())
            messages = (PromptMessage(n, who, text, day) for n, (who, _, text) in enumerate(rows))
        for message in messages:
            digest = hashlib.sha256(f"{step}/{message.text}/{message.day}".encode()).digest()
            if int.from_bytes(digest[:4]) >= self.misses * 2**32:
                yield message

    def stated(
        self, messages: str | Iterable[PromptMessage], step: str, day: date = ANY_DAY
    ) -> Iterator[tuple[PromptMessage, Stated]]:
        """Yield the facts in the messages that are `noticed`, each with its message."""
        for message in self.noticed(messages, step, day):
            for stated in read(message.text, message.day):
                yield message, stated


class MissingPartError(Exception):
    """Raised if a prompt lacks a part."""


def part(prompt: str, name: str) -> str:
    """Return the text between the lines `<name>` and `</name>`; raise MissingPartError."""
    if match := re.search(rf"<{name}>\n(.*?)\n?</{name}>", prompt, re.DOTALL):
        return match[1]
    raise MissingPartError(name)


def read(text: str, day: date = date.max) -> Iterator[Stated]:
    """Yield the facts in a `text` of the `day`."""
    for language in LANGUAGES.values():
        for fact in language.read(text, day):
            yield Stated(language, fact)


def values_in(texts: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the last value of each fact in `texts`, by subject and relation."""
    return {stated.fact.key: stated.fact.value for text in texts for stated in read(text)}


def entities_of(fact: WorldFact) -> Mapping[str, str]:
    """Return the kind of each named entity of a fact; a question names its subject only."""
    if fact.place is not None:
        return {fact.subject: "person", fact.place: "place"}
    of, to = RELATIONS[fact.relation]
    kinds = {fact.subject: _KINDS.get(of, of), fact.value: _KINDS.get(to, to)}
    return {name: kind for name, kind in kinds.items() if name}


def entities_asked_for(question: str) -> dict[str, str]:
    """Return the kind of each entity that a generated question names; none of another text."""
    if (parsed := parse_question(question)) is None:
        return {}
    subject, (first, *_), _ = parsed[1]
    return dict(entities_of(WorldFact(subject, first, "")))


def text_message(content: str) -> Message:
    """Return a message of this content."""
    return {"role": "assistant", "content": content}


def json_message(value: Mapping[str, Any]) -> Message:
    """Return a message whose content is a JSON object."""
    return text_message(json.dumps(value, ensure_ascii=False))


def calling(calls: Iterable[tuple[str, Mapping[str, Any]]], otherwise: str) -> Message:
    """Return a message that calls tools by name with arguments; without calls, its text is
    `otherwise`.
    """
    rows = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    if not rows:
        return text_message(otherwise)
    return {"role": "assistant", "content": None, "tool_calls": rows}
