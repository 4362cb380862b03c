"""How a model that knows the grammar reads prompts: messages, their days, and facts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import NamedTuple

from eval.datasets.synthetic.english import English
from eval.datasets.synthetic.language import RELATIONS, VISIT, Fact, Language
from eval.datasets.synthetic.languages import LANGUAGES

_LINE = re.compile(r"(\d+)\. (.*)")
_KINDS = {"firm": "organisation", "town": "place", "dish": "thing"}
_VISITED = "visited"  # in a graph, which holds no days


class Message(NamedTuple):
    """One of a prompt; `number` as it is shown, `day` that of its session."""

    number: int
    speaker: str
    text: str
    day: date


class NoPlaceError(Exception):
    """The prompt does not have a part."""


def part(prompt: str, name: str) -> str:
    """What stands in a `prompt` between the lines `<name>` and `</name>`. Raises NoPlaceError."""
    found = re.search(rf"<{name}>\n(.*?)\n?</{name}>", prompt, re.DOTALL)
    if found is None:
        raise NoPlaceError(name)
    return found[1]


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Lines of the form `3. words`: number and words."""
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            yield int(match[1]), match[2]


def messages(text: str, said: date | None) -> Iterator[Message]:
    """Those of a `text`, each of the day that stands above it, or else of the day `said`. Raises
    NoPlaceError where there is none.
    """
    for line in text.splitlines():
        if line.startswith("["):
            said = day_in(line, r"\[(.+?)\]")
        elif match := _LINE.fullmatch(line):
            if said is None:
                raise NoPlaceError("a day")
            speaker, _, told = match[2].partition(": ")
            yield Message(int(match[1]), speaker, told, said)


def said_in(text: str, day: date) -> Iterator[Message]:
    """Messages of the `day`, each a line `Speaker: words`, numbered from 0."""
    for number, line in enumerate(text.splitlines()):
        speaker, _, words = line.partition(": ")
        yield Message(number, speaker, words, day)


def heard(said: Iterator[Message], step: str, misses: float) -> Iterator[Message]:
    """All but a share `misses` of what was `said`: in each step others, always the same in one."""
    for message in said:
        digest = hashlib.sha256(f"{step}/{message.text}/{message.day}".encode()).digest()
        if int.from_bytes(digest[:4]) >= misses * 2**32:
            yield message


def day_in(text: str, pattern: str) -> date | None:
    """A day as prompts have it, `8 May 2023, 13:56`."""
    found = re.search(pattern, text)
    return English().parse(found[1].partition(",")[0]) if found else None


def read(text: str, said: date = date.max) -> Iterator[tuple[Language, Fact]]:
    """Facts of a `text` of the day `said`, each with its language."""
    for language in LANGUAGES.values():
        for fact in language.read(text, said):
            yield language, fact


def triple(language: Language, fact: Fact) -> tuple[str, str, str]:
    """Source, relation and destination of a fact in a graph."""
    if fact.relation.startswith(VISIT):
        return fact.subject, _VISITED, fact.relation.removeprefix(VISIT)
    return fact.subject, language.names[fact.relation], fact.value


def ends(fact: Fact) -> Mapping[str, str]:
    """Names and kinds of a fact's ends; of a question's only what it names."""
    if fact.relation.startswith(VISIT):
        return {fact.subject: "person", fact.relation.removeprefix(VISIT): "place"}
    of, to = RELATIONS[fact.relation]
    found = {fact.subject: _KINDS.get(of, of), fact.value: _KINDS.get(to, to)}
    return {name: kind for name, kind in found.items() if name}
