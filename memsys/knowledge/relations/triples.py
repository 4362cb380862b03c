"""Extracted entities and triples, stored relations as texts and memories, and names that have to be
deleted with texts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memsys.core.terms import words
from memsys.core.titles import title_of
from memsys.core.turns import importance
from memsys.core.types import Memory
from memsys.knowledge.facts.fact import plain
from memsys.stores.relations import Node, Relation

_FIRST_PERSON = frozenset("i me my mine myself".split())
# First-person names, and the words that models use for them.
_SELF = _FIRST_PERSON | {
    *"user speaker 我 我的 我自己 自己 本人".split(),
    "the user",
    "the speaker",
}


@dataclass(frozen=True, slots=True)
class Entity:
    """A person or thing that was mentioned, and its type (`kind`)."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Triple:
    """The relation `source` -`name`-> `destination`, stated in the turns of these ids."""

    source: Entity
    name: str
    destination: Entity
    turns: tuple[str, ...]

    @property
    def text(self) -> str:
        """The triple as a sentence."""
        return f"{self.source.name} {self.name} {self.destination.name}"


def shown(name: str) -> str:
    """Return a name as it is shown and embedded: spaces for underscores, stripped."""
    return " ".join(name.replace("_", " ").split())


def is_self(name: str) -> bool:
    """Return whether `name` refers to the speaker ("I", "user")."""
    return shown(name).casefold() in _SELF


def names_self(text: str) -> bool:
    """Return whether `text` contains a first-person word."""
    return "我" in text or any(word in _FIRST_PERSON for word in words(text))


def id_of(key: tuple[str, str, str]) -> str:
    """Return the id of a relation in records and logs: `r:` and the three parts of its key."""
    return "r:" + "|".join(key)


class Related(NamedTuple):
    """A stored relation with its source and its target."""

    relation: Relation
    ends: tuple[Node, Node]

    @property
    def sentence(self) -> str:
        """The relation as a sentence."""
        return f"{self.ends[0].name} {self.relation.name} {self.ends[1].name}"

    @property
    def dated(self) -> str:
        """The sentence with the days on which it was first and last stated, and on which it
        ended.
        """
        relation = self.relation
        days = [f"stated {_day(relation.created)}"]
        if relation.last_seen.date() != relation.created.date():
            days.append(f"last {_day(relation.last_seen)}")
        if relation.ended is not None:
            days.append(f"until {_day(relation.ended)}")
        return f"{self.sentence} ({', '.join(days)})"

    def as_memory(self) -> Memory:
        """Return the relation as a Memory, with the date on which it ended, if any."""
        relation, text = self.relation, self.sentence
        return Memory(
            id=id_of(relation.key),
            content=text if relation.ended is None else f"{text} (until {_day(relation.ended)})",
            index_text=text,
            time=relation.created,
            speaker=self.ends[0].name,
            turns=relation.turns,
            importance=importance(text),
            title=title_of(text),
        )


def _day(time: datetime) -> str:
    return f"{time.day} {time:%B %Y}"


# Characters of scripts without spaces between words: kana, Chinese characters, Hangul syllables.
_UNSPACED = re.compile(
    "[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Unsaid:
    """The names whose words are in a deleted text and in no remaining one."""

    def __init__(self, deleted: Iterable[str], remaining: Iterable[str]) -> None:
        self._deleted, self._remaining = _spaced_lines(deleted), _spaced_lines(remaining)

    def __contains__(self, name: object) -> bool:
        """Return whether a deleted text has `name`, by whole words, and no remaining one has."""
        words = _spaced(str(name))
        return bool(words.strip()) and words in self._deleted and words not in self._remaining


def _spaced_lines(texts: Iterable[str]) -> str:
    return "\n".join(map(_spaced, texts))


def _spaced(text: str) -> str:
    """Return the words of `text` with a space around each; an unspaced character is a word."""
    words = _UNSPACED.sub(r" \g<0> ", plain(text)).split()
    return f" {' '.join(words)} "
