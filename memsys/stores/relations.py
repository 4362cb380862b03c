"""The base class of stores of entities and their relations, and their rows."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, NamedTuple

from memsys.core.errors import refuse
from memsys.core.types import Vectors
from memsys.stores.vectors import EngineStore, checked


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


class RelationStore(EngineStore):
    """Nodes and the relations between them."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Return a block whose reads and changes are one: no other thread changes the store during
        it, and in a file no other process, and all its changes are stored, or, after an error,
        none. Blocks may be nested. On a server, an error leaves the changes made so far, and other
        processes may change it.
        """
        with self._lock:
            yield

    def put_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        """Store `nodes`; one with an existing id is replaced, and its relations stay. Raises
        InputError, and stores none, if a vector is not of the store's dimension.
        """
        with self._change(owner):
            latest, dimension = dict[str, Node](), self._dimension()
            for node in nodes:  # copied, so that no array is shared with the caller
                (vector,) = checked(node.vector[None], 1, dimension, "relation_store")
                latest[node.id], dimension = replace(node, vector=vector), len(vector)
            if latest:
                self._write_nodes(owner, list(latest.values()))
                self._known_dimension = dimension

    def put_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        """Store `relations`; one with an existing key is replaced. Raises InputError, and stores
        none, if an end is not a node of `owner`.
        """
        with self._change(owner):
            ends = [(edge.key, end) for edge in relations for end in (edge.source, edge.target)]
            present = self._present(owner, {end for _, end in ends})
            faults = {
                f"relation_store: the relation {key} of {owner!r} has an end, {end!r}, that is no "
                "node; put the node first": end not in present
                for key, end in ends
            }
            refuse(faults)
            self._write_relations(owner, list({edge.key: edge for edge in relations}.values()))

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """Delete the relations with these keys; unknown ones are ignored, nodes stay."""
        with self._change(owner):
            self._delete_relations(owner, keys)

    def drop_nodes(self, owner: str, ids: Collection[str]) -> None:
        """Delete the nodes with these ids, and their relations; unknown ones are ignored."""
        with self._change(owner):
            self._delete_nodes(owner, ids)

    def similar(self, owner: str, vector: Vectors, threshold: float, most: int) -> list[NearNode]:
        """Return up to `most` nodes with a cosine to `vector`, shape (d,), of `threshold` or more.
        The result is sorted from best to worst, with ties by id. Raises InputError if d is not that
        of the store.
        """
        with self._lock:
            query = checked(vector[None], 1, self._dimension(), "relation_store")[0]
            near = self._nearest(owner, query, most)
            return [node for node in near if node.cosine >= threshold]

    def nodes(self, owner: str, ids: Collection[str] | None = None) -> list[Node]:
        """Return the existing nodes with these ids (None: all), sorted by id."""
        with self._lock:
            return sorted(self._read_nodes(owner, ids), key=lambda node: node.id)

    def relations(self, owner: str, nodes: Collection[str] | None = None) -> list[Relation]:
        """Return the relations from or to one of `nodes` (None: all), sorted by key."""
        with self._lock:
            by_key = {relation.key: relation for relation in self._read_relations(owner, nodes)}
            return [by_key[key] for key in sorted(by_key)]

    def clear(self, owner: str) -> None:
        """Delete everything of `owner`."""
        with self._change(owner):
            self._delete_all(owner)

    def _change(self, owner: str) -> AbstractContextManager[None]:  # noqa: ARG002
        """Return a block that changes what `owner` has."""
        return self.writing()

    @abstractmethod
    def _present(self, owner: str, ids: Collection[str]) -> Collection[str]:
        """Return ids of nodes, those of `ids` that exist among them."""

    @abstractmethod
    def _write_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        """Store `nodes`, each id of which occurs once."""

    @abstractmethod
    def _write_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        """Store `relations`, each key of which occurs once, between existing nodes."""

    @abstractmethod
    def _delete_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None: ...

    @abstractmethod
    def _delete_nodes(self, owner: str, ids: Collection[str]) -> None: ...

    @abstractmethod
    def _delete_all(self, owner: str) -> None: ...

    @abstractmethod
    def _nearest(self, owner: str, query: Vectors, most: int) -> Iterable[NearNode]:
        """Return the `most` nearest nodes, as `similar` sorts them."""

    @abstractmethod
    def _read_nodes(self, owner: str, ids: Collection[str] | None) -> Iterable[Node]: ...

    @abstractmethod
    def _read_relations(self, owner: str, nodes: Collection[str] | None) -> Iterable[Relation]:
        """Return relations like `relations`, in any order; one may occur twice."""


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
    values = {
        field.name: row[field.name] for field in fields(kind) if row.get(field.name) is not None
    }
    times = {name: values[name] for name in ("created", "last_seen", "ended") if name in values}
    return values | {name: datetime.fromisoformat(time) for name, time in times.items()}
