"""The nodes and relations of several owners of a store, as if they were one owner's."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memsys.core.types import Vectors
from memsys.stores.relations import NearNode, Node, Relation, RelationStore


class OwnersView:
    """A view of the parts of `owners` in `store`. A node of several owners is that of the first; a
    relation of several is one, which is valid while it is valid for any of them.
    """

    def __init__(self, store: RelationStore, owners: Iterable[str]) -> None:
        self._store = store
        self.owners = tuple(dict.fromkeys(owners))

    def nodes(self, ids: Collection[str] | None = None) -> list[Node]:
        """Return the nodes with these ids (None: all), sorted by id."""
        found: dict[str, Node] = {}
        for owner in self.owners:
            found = {node.id: node for node in self._store.nodes(owner, ids)} | found
        return [found[id_] for id_ in sorted(found)]

    def similar(self, vector: Vectors, threshold: float, most: int) -> list[NearNode]:
        """Return up to `most` nodes: see RelationStore.similar."""
        found: dict[str, NearNode] = {}
        for owner in self.owners:
            for near in self._store.similar(owner, vector, threshold, most):
                found.setdefault(near.node.id, near)
        return sorted(found.values(), key=lambda near: (-near.cosine, near.node.id))[:most]

    def relations(self, nodes: Collection[str] | None = None) -> list[Relation]:
        """Return the relations from or to one of `nodes` (None: all), sorted by key."""
        found: dict[tuple[str, str, str], Relation] = {}
        for owner in self.owners:
            for one in self._store.relations(owner, nodes):
                found[one.key] = _united(found[one.key], one) if one.key in found else one
        return [found[key] for key in sorted(found)]


def _united(one: Relation, other: Relation) -> Relation:
    ended = (one.ended, other.ended)
    return Relation(
        *one.key,
        mentions=one.mentions + other.mentions,
        created=min(one.created, other.created),
        last_seen=max(one.last_seen, other.last_seen),
        ended=None if None in ended else max(time for time in ended if time is not None),
        turns=tuple(dict.fromkeys((*one.turns, *other.turns))),
    )
