"""What a model finds, before it is stored, and how a stored relation reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memsys.stores.relations import Node, Relation
from memsys.text.turns import importance
from memsys.types import Memory

# How somebody who speaks names himself, and what models make of that.
_SELF = frozenset("i me my mine myself user speaker 我 我的 我自己 自己 本人".split()) | {
    "the user",
    "the speaker",
}


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that was spoken of, with the sort of thing it is."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Triple:
    """`source` -`name`-> `destination`, as it was said in the turns of these ids."""

    source: Entity
    name: str
    destination: Entity
    turns: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a sentence."""
        return f"{self.source.name} {self.name} {self.destination.name}"


def shown(name: str) -> str:
    """A name as it is shown and embedded: spaces, no underscores, no blanks at the ends."""
    return " ".join(name.replace("_", " ").split())


def is_self(name: str) -> bool:
    """Whether `name` is how the one who speaks names himself."""
    return shown(name).casefold() in _SELF


def verbalised(relation: Relation, ends: tuple[Node, Node]) -> str:
    """`relation` as a sentence; `ends` are its source and its target."""
    return f"{ends[0].name} {relation.name} {ends[1].name}"


def id_of(relation: Relation) -> str:
    """By which a relation is recorded and logged: `r:` and the three parts of its key."""
    return "r:" + "|".join(relation.key)


def until(time: datetime) -> str:
    """What stands behind a relation that does not hold any more."""
    return f"(until {time.day} {time:%B %Y})"


def as_memory(relation: Relation, ends: tuple[Node, Node]) -> Memory:
    """`relation` as a reader sees it: since when it is known, and until when it held.

    A memory like any other: budget, context, escaping and evidence need no case of their own.
    """
    text = verbalised(relation, ends)
    return Memory(
        id=id_of(relation),
        content=text if relation.ended is None else f"{text} {until(relation.ended)}",
        index_text=text,
        time=relation.created,
        speaker=ends[0].name,
        turns=relation.turns,
        importance=importance(text),
    )
