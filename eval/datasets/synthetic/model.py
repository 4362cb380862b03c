"""A model that knows the grammar of `dataset=synthetic`: what it is asked to remember, it does.

It is given the prompts by which memories are written and nothing else, as any model is: what a
strategy makes of its answers is the strategy's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final, NamedTuple

from eval.datasets.synthetic.english import English
from eval.datasets.synthetic.language import RELATIONS, VISIT, Fact, Language
from eval.datasets.synthetic.languages import LANGUAGES, asked

Rows = list[dict[str, Any]]
_LINE = re.compile(r"(\d+)\. (.*)")
_SUMMARY = "They tell each other of people, firms, towns and dishes."
_KINDS = {"firm": "organisation", "town": "place", "dish": "thing"}
_VISITED = "visited"  # in a graph, which holds no days


class _Message(NamedTuple):
    number: int
    speaker: str
    text: str
    day: date


class UnknownPromptError(Exception):
    """A prompt that this model has no answer to."""


def answer(step: str, prompt: str, misses: float = 0.0) -> str | Rows:
    """The reply to a `prompt` of `step`: a text for `summary`, else the rows of the list that was
    asked for (`facts`, `operations`, `entities`, `relations`, `conflicts`). It overlooks a share
    `misses` of the messages, in each step others, but in a step always the same.

    Raises UnknownPromptError.
    """
    try:
        return _STEPS[step](prompt, misses)
    except (KeyError, _NoPlaceError) as error:
        raise UnknownPromptError(f"no prompt of {', '.join(_STEPS)}") from error


class _NoPlaceError(Exception):
    """The prompt does not have a part."""


def _facts(prompt: str, misses: float) -> Rows:
    rows = []
    for message in _heard(_messages(_part(prompt, "new_messages"), None), "facts", misses):
        for language, fact in _read(message.text, message.day):
            visit = fact.relation.startswith(VISIT)
            day = language.parse(fact.value) if visit else None
            rows.append(
                {
                    "title": fact.relation.split()[0],
                    "content": language.stated(fact),
                    "when": day.isoformat() if day else "",
                    "speaker": message.speaker,
                    "turns": [message.number],
                }
            )
    return rows


def _operations(prompt: str, misses: float) -> Rows:
    """What replaces a value updates it; further facts of the same kind, if any, are dropped."""
    del misses  # who is shown a fact has it before him
    facts = list(_read(_part(prompt, "new_fact"), date.max))
    rows: Rows = []
    for number, text in _numbered(_part(prompt, "stored_facts")):
        for _, old in _read(text, date.max):
            for language, new in facts:
                if (old.subject, old.relation) != (new.subject, new.relation):
                    continue
                if old.value == new.value:
                    return [_operation("NOOP", why="known already")]
                if rows:
                    rows.append(_operation("DELETE", number, why="another value holds now"))
                else:
                    content, why = language.stated(new), "another value holds now"
                    rows.append(_operation("UPDATE", number, content, why))
    return rows or [_operation("ADD", why="not known yet")]


def _operation(kind: str, number: int = 0, content: str = "", why: str = "") -> dict[str, Any]:
    return {"operation": kind, "id": number, "content": content, "why": why}


def _entities(prompt: str, misses: float) -> Rows:
    """Of messages, or of a question."""
    text = _part(prompt, "text")
    found: dict[str, str] = {}
    for _, line in _numbered(text):
        if (question := asked(line)) is not None:
            subject, (first, *_), _ = question[1]
            found |= _ends(Fact(subject, first, ""))
    said = _day(prompt, r"The text is of (.+?)\.")
    if not found and said is not None:
        for message in _heard(_messages(text, said), "entities", misses):
            for _, fact in _read(message.text, said):
                found |= _ends(fact)
    return [{"name": name, "type": kind} for name, kind in found.items()]


def _relations(prompt: str, misses: float) -> Rows:
    said = _day(prompt, r"The messages are of (.+?)\.")
    return [
        {"source": source, "relation": name, "destination": end, "turns": [message.number]}
        for message in _heard(_messages(_part(prompt, "messages"), said), "relations", misses)
        for language, fact in _read(message.text, message.day)
        for source, name, end in [_triple(language, fact)]
    ]


def _conflicts(prompt: str, misses: float) -> Rows:
    """Stored relations that a new one puts another end in the place of."""
    del misses
    new = {(f.subject, f.relation): f.value for _, f in _read(_part(prompt, "new_relations"))}
    return [
        {"relation": number, "why": "another one holds now"}
        for number, text in _numbered(_part(prompt, "stored_relations"))
        for _, old in _read(text)
        if new.get((old.subject, old.relation), old.value) != old.value
    ]


def _summary(prompt: str, misses: float) -> str:
    del misses
    _part(prompt, "latest_conversation")
    return _SUMMARY


_STEPS: Final[Mapping[str, Callable[[str, float], str | Rows]]] = {
    "facts": _facts,
    "operations": _operations,
    "entities": _entities,
    "relations": _relations,
    "conflicts": _conflicts,
    "summary": _summary,
}


def _part(prompt: str, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n?</{name}>", prompt, re.DOTALL)
    if found is None:
        raise _NoPlaceError(name)
    return found[1]


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            yield int(match[1]), match[2]


def _messages(text: str, said: date | None) -> Iterator[_Message]:
    """Those of a `text`, each of the day that stands above it, or else of the day `said`."""
    for line in text.splitlines():
        if line.startswith("["):
            said = _day(line, r"\[(.+?)\]")
        elif match := _LINE.fullmatch(line):
            if said is None:
                raise _NoPlaceError("a day")
            speaker, _, told = match[2].partition(": ")
            yield _Message(int(match[1]), speaker, told, said)


def _heard(messages: Iterator[_Message], step: str, misses: float) -> Iterator[_Message]:
    for message in messages:
        digest = hashlib.sha256(f"{step}/{message.text}/{message.day}".encode()).digest()
        if int.from_bytes(digest[:4]) >= misses * 2**32:
            yield message


def _day(text: str, pattern: str) -> date | None:
    """A day as prompts have it, `8 May 2023, 13:56`."""
    found = re.search(pattern, text)
    return English().parse(found[1].partition(",")[0]) if found else None


def _read(text: str, said: date = date.max) -> Iterator[tuple[Language, Fact]]:
    for language in LANGUAGES.values():
        for fact in language.read(text, said):
            yield language, fact


def _triple(language: Language, fact: Fact) -> tuple[str, str, str]:
    if fact.relation.startswith(VISIT):
        return fact.subject, _VISITED, fact.relation.removeprefix(VISIT)
    return fact.subject, language.names[fact.relation], fact.value


def _ends(fact: Fact) -> Mapping[str, str]:
    """Names and kinds of a fact's ends; of a question's only what it names."""
    if fact.relation.startswith(VISIT):
        return {fact.subject: "person", fact.relation.removeprefix(VISIT): "place"}
    of, to = RELATIONS[fact.relation]
    found = {fact.subject: _KINDS.get(of, of), fact.value: _KINDS.get(to, to)}
    return {name: kind for name, kind in found.items() if name}
