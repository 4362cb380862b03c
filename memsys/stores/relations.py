"""The protocol of a store of entities and relations, and the rows that engines store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from memsys.types import Vectors


@dataclass(frozen=True, slots=True)
class Node:
    """An entity. `vector` is the unit vector of its name, shape (d,); times are of conversation."""

    id: str
    name: str
    kind: str
    vector: Vectors = field(compare=False, repr=False)
    mentions: int
    created: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` -`name`-> `target`, both ids of nodes; these three are its identity.

    `ended` is when it was found not to hold any more, None while it holds. `turns` are the ids of
    the turns that it rests on.
    """

    source: str
    name: str
    target: str
    mentions: int
    created: datetime
    last_seen: datetime
    ended: datetime | None = None
    turns: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What two relations may not share within an owner."""
        return self.source, self.name, self.target


class NearNode(NamedTuple):
    """A node that was found, and the cosine of its name to what was asked for."""

    node: Node
    cosine: float


class RelationStore(Protocol):
    """Nodes and relations, apart by owner: what is kept for one is never found for another.

    What `put` or `drop` was told has reached the disk when it returns, where the store has a place
    on disk; a process that is killed between two of them leaves a store that can be opened and
    holds all that was told before. Ids, names and owners are any text that is not empty.
    """

    def put_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        """Keep `nodes`; one whose id is there is replaced, its relations stay."""
        ...

    def put_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        """Keep `relations`; one whose key is there is replaced.

        Raises InputError where an end is no node of `owner`; then none of them is kept.
        """
        ...

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """Forget the relations of these keys; unknown ones are passed over. Nodes stay."""
        ...

    def similar(self, owner: str, vector: Vectors, threshold: float, most: int) -> list[NearNode]:
        """The `most` nodes whose cosine to `vector`, shape (d,), is `threshold` or more: best
        first, ties by id.
        """
        ...

    def nodes(self, owner: str, ids: Collection[str] | None = None) -> list[Node]:
        """The nodes of these ids (None: all) that there are, sorted by id."""
        ...

    def relations(self, owner: str, nodes: Collection[str] | None = None) -> list[Relation]:
        """Relations that begin or end at one of `nodes` (None: all), each once, sorted by key."""
        ...

    def clear(self, owner: str) -> None:
        """Forget all of `owner`."""
        ...

    def close(self) -> None:
        """Let go of files and connections; nothing may be asked afterwards."""
        ...


def node_row(node: Node) -> dict[str, Any]:
    """`node` without its vector, of which each engine has a form of its own."""
    return {
        "id": node.id,
        "name": node.name,
        "kind": node.kind,
        "mentions": node.mentions,
        "created": node.created.isoformat(),
        "last_seen": node.last_seen.isoformat(),
    }


def node_of(row: Mapping[str, Any], vector: Vectors) -> Node:
    """The node that `node_row` made a row of, and its `vector`, shape (d,)."""
    return Node(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        vector=vector,
        mentions=row["mentions"],
        created=datetime.fromisoformat(row["created"]),
        last_seen=datetime.fromisoformat(row["last_seen"]),
    )


def relation_row(relation: Relation) -> dict[str, Any]:
    """`relation`, its ends among the rest."""
    return {
        "source": relation.source,
        "name": relation.name,
        "target": relation.target,
        "mentions": relation.mentions,
        "created": relation.created.isoformat(),
        "last_seen": relation.last_seen.isoformat(),
        "ended": None if relation.ended is None else relation.ended.isoformat(),
        "turns": list(relation.turns),
    }


def relation_of(source: str, row: Mapping[str, Any], target: str) -> Relation:
    """The relation between two ids that `relation_row` made the rest of."""
    ended = row.get("ended")  # a graph database keeps no property without a value
    return Relation(
        source=source,
        name=row["name"],
        target=target,
        mentions=row["mentions"],
        created=datetime.fromisoformat(row["created"]),
        last_seen=datetime.fromisoformat(row["last_seen"]),
        ended=None if ended is None else datetime.fromisoformat(ended),
        turns=tuple(row["turns"] or ()),
    )
