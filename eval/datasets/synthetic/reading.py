"""Prompts and replies of the model that knows the grammar: parts, messages, facts, tool calls."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from eval.datasets.synthetic.languages import LANGUAGES, RELATIONS, VISIT, Language, WorldFact

_LINE = re.compile(r"(\d+)\. (.*)")
_KINDS = {"firm": "organisation", "town": "place", "dish": "thing"}
ANY_DAY = date(2000, 1, 1)  # of messages whose prompt has no day
_VISITED = "visited"  # relation of a visit in a graph, which stores no days


class PromptMessage(NamedTuple):
    """A message of a prompt: `number` as shown, `day` of its session."""

    number: int
    speaker: str
    text: str
    day: date


class MissingPartError(Exception):
    """Raised if a prompt lacks a part."""


def part(prompt: str, name: str) -> str:
    """Return the text between the lines `<name>` and `</name>`; raise MissingPartError."""
    if match := re.search(rf"<{name}>\n(.*?)\n?</{name}>", prompt, re.DOTALL):
        return match[1]
    raise MissingPartError(name)


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of lines such as `3. text`."""
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            yield int(match[1]), match[2]


def messages(text: str, said: date | None) -> Iterator[PromptMessage]:
    """Yield the messages in `text`, dated by the day above each, else by `said`.

    Raises MissingPartError if there is neither.
    """
    for line in text.splitlines():
        if line.startswith("["):
            said = day_in(line, r"\[(.+?)\]")
        elif match := _LINE.fullmatch(line):
            if said is None:
                raise MissingPartError("a day")
            speaker, _, content = match[2].partition(": ")
            yield PromptMessage(int(match[1]), speaker, content, said)


def lines_as_messages(text: str, day: date) -> Iterator[PromptMessage]:
    """Yield the lines `Speaker: content` of `text` as messages of the `day`, numbered from 0."""
    for number, line in enumerate(text.splitlines()):
        speaker, _, content = line.partition(": ")
        yield PromptMessage(number, speaker, content, day)


def noticed(said: Iterator[PromptMessage], step: str, misses: float) -> Iterator[PromptMessage]:
    """Yield all but a share `misses` of the messages, chosen by a hash of step, text and day."""
    for message in said:
        digest = hashlib.sha256(f"{step}/{message.text}/{message.day}".encode()).digest()
        if int.from_bytes(digest[:4]) >= misses * 2**32:
            yield message


def stated(
    said: Iterator[PromptMessage], step: str, misses: float
) -> Iterator[tuple[PromptMessage, Language, WorldFact]]:
    """Yield the facts in the messages that are `noticed`, each with its message and language."""
    for message in noticed(said, step, misses):
        for language, fact in read(message.text, message.day):
            yield message, language, fact


def day_in(text: str, pattern: str) -> date | None:
    """Return the day that `pattern` captures, written as `8 May 2023, 13:56`; None if no match."""
    match = re.search(pattern, text)
    return LANGUAGES["en"].parse(match[1].partition(",")[0]) if match else None


def read(text: str, said: date = date.max) -> Iterator[tuple[Language, WorldFact]]:
    """Yield the facts in a `text` of the day `said`, each with its language."""
    for language in LANGUAGES.values():
        for fact in language.read(text, said):
            yield language, fact


def triple(language: Language, fact: WorldFact) -> tuple[str, str, str]:
    """Return source, relation and destination of a fact in a graph."""
    if fact.relation.startswith(VISIT):
        return fact.subject, _VISITED, fact.relation.removeprefix(VISIT)
    return fact.subject, language.names[fact.relation], fact.value


def entities_of(fact: WorldFact) -> Mapping[str, str]:
    """Return the kind of each named entity of a fact; a question names its subject only."""
    if fact.relation.startswith(VISIT):
        return {fact.subject: "person", fact.relation.removeprefix(VISIT): "place"}
    of, to = RELATIONS[fact.relation]
    kinds = {fact.subject: _KINDS.get(of, of), fact.value: _KINDS.get(to, to)}
    return {name: kind for name, kind in kinds.items() if name}


def contents_of(body: Mapping[str, Any]) -> list[str]:
    """Return the contents of a chat request's messages; an empty one if there is none."""
    return [str(message["content"]) for message in body["messages"]] or [""]


def tool_names(body: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that a chat request offers."""
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def text_message(content: str) -> dict[str, Any]:
    """Return a message of this content."""
    return {"role": "assistant", "content": content}


def json_message(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose content is a JSON object."""
    return text_message(json.dumps(value, ensure_ascii=False))


def calling(calls: Iterable[tuple[str, Mapping[str, Any]]], otherwise: str) -> dict[str, Any]:
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
