"""The protocol of a store of entities and their relations, and its rows."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from memsys.core.errors import InputError
from memsys.core.types import Vectors


@dataclass(frozen=True, slots=True)
class Node:
    """An entity. `vector`: unit vector of its name, shape (d,). Times are conversation time."""

    id: str
    name: str
    kind: str
    vector: Vectors = field(compare=False, repr=False)
    mentions: int
    created: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` -`name`-> `target`, both ids of nodes; these three are its identity. `ended` is when
    it became invalid, None while it is valid. `turns` are the ids of its evidence turns.
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
        """Identity of the relation within an owner."""
        return self.source, self.name, self.target


class NearNode(NamedTuple):
    """A node and the cosine of its name to the query."""

    node: Node
    cosine: float


class RelationStore(Protocol):
    """Nodes and relations, separated by owner: a search for one owner sees no other's.

    If the store has a file or server, a change is on disk when its method returns; a process killed
    between two changes leaves a store that can be opened and contains all earlier ones. Ids, names
    and owners are any non-empty text.
    """

    def writing(self) -> AbstractContextManager[None]:
        """Return a block whose reads and changes are one: no other thread changes the store during
        it, and in a file no other process, and all its changes are stored, or, after an error,
        none. Blocks may be nested. On a server, an error leaves the changes made so far, and other
        processes may change it.
        """

    def put_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        """Store `nodes`; one with an existing id is replaced, and its relations stay. Raises
        InputError, and stores none, if a vector is not of the store's dimension.
        """

    def put_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        """Store `relations`; one with an existing key is replaced. Raises InputError, and stores
        none, if an end is not a node of `owner`.
        """

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """Delete the relations with these keys; unknown ones are ignored, nodes stay."""

    def drop_nodes(self, owner: str, ids: Collection[str]) -> None:
        """Delete the nodes with these ids, and their relations; unknown ones are ignored."""

    def similar(self, owner: str, vector: Vectors, threshold: float, most: int) -> list[NearNode]:
        """Return up to `most` nodes with a cosine to `vector`, shape (d,), of `threshold` or more.
        The result is sorted from best to worst, with ties by id. Raises InputError if d is not that
        of the store.
        """

    def nodes(self, owner: str, ids: Collection[str] | None = None) -> list[Node]:
        """Return the existing nodes with these ids (None: all), sorted by id."""

    def relations(self, owner: str, nodes: Collection[str] | None = None) -> list[Relation]:
        """Return the relations from or to one of `nodes` (None: all), sorted by key."""

    def clear(self, owner: str) -> None:
        """Delete everything of `owner`."""

    def compact(self) -> bool:
        """See VectorStore.compact."""

    def close(self) -> None:
        """Close files and connections; the store cannot be used afterwards."""


def require_ends(relations: Sequence[Relation], nodes: Collection[str], owner: str) -> None:
    """Raise InputError if an end of a relation is not among the ids `nodes`."""
    for relation in relations:
        for end in (relation.source, relation.target):
            if end not in nodes:
                raise InputError(
                    f"relation_store: the relation {relation.key} of {owner!r} has an end, "
                    f"{end!r}, that is no node; put the node first"
                )


def row_of(record: Node | Relation) -> dict[str, Any]:
    """Return the fields of `record` as plain values, times in ISO 8601. The vector of a node is
    left out: its form depends on the engine.
    """
    row = {field.name: getattr(record, field.name) for field in fields(record)}
    row.pop("vector", None)
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def node_of(row: Mapping[str, Any], vector: Vectors) -> Node:
    """Return the node of a row that `row_of` returned and of its `vector`, shape (d,)."""
    return Node(**_fields(Node, {**row, "vector": vector}))


def relation_of(source: str, row: Mapping[str, Any], target: str) -> Relation:
    """Return the relation from node `source` to node `target` that a row of `row_of` stores."""
    ends = {"source": source, "target": target, "turns": tuple(row["turns"] or ())}
    return Relation(**_fields(Relation, {**row, **ends}))


def _fields(kind: type[Node | Relation], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `kind` in a row; a graph database has no property without a value."""
    found = {one.name: row[one.name] for one in fields(kind) if row.get(one.name) is not None}
    times = {name: found[name] for name in ("created", "last_seen", "ended") if name in found}
    return found | {name: datetime.fromisoformat(time) for name, time in times.items()}
