"""The entities and relations of one owner: what lies near a name, and how new ones are merged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from memsys.embed.cache import CachedEmbedder
from memsys.facts.base import plain
from memsys.relations.base import Entity, Triple, verbalised
from memsys.relations.settings import GraphSettings
from memsys.stores.relations import Node, Relation, RelationStore, node_row, relation_row
from memsys.stores.size import lines, singles
from memsys.types import Vectors

Applied = Literal["ADD", "MENTION", "RENEW", "DELETE", "END"]


@dataclass(frozen=True, slots=True)
class Planned:
    """A triple whose ends are resolved: the relation that it is, and its end nodes. Nothing of it
    is stored yet.
    """

    triple: Triple
    ends: tuple[Node, Node]

    @property
    def key(self) -> tuple[str, str, str]:
        """Of the relation."""
        return self.ends[0].id, self.triple.name, self.ends[1].id


class OwnGraph:
    """One owner's part of a relation store. A node's id is its name in plain letters, so that two
    equal names are one node whatever an embedder makes of them.
    """

    def __init__(
        self, store: RelationStore, owner: str, embedder: CachedEmbedder, settings: GraphSettings
    ) -> None:
        self._store, self._owner = store, owner
        self._embedder, self._settings = embedder, settings

    def near(self, names: Sequence[str]) -> dict[str, float]:
        """Ids of the nodes whose names are like one of `names`, each with its highest cosine."""
        found: dict[str, float] = {}
        if not names:
            return found
        same = self._store.nodes(self._owner, {plain(name) for name in names})
        settings = self._settings
        for vector in self._vectors(names):
            near = self._store.similar(self._owner, vector, settings.threshold, settings.nodes)
            for node, cosine in near:
                found[node.id] = max(found.get(node.id, -1.0), cosine)
        return found | {node.id: 1.0 for node in same}

    def around(self, names: Sequence[str], hops: int = 1) -> list[tuple[Relation, float]]:
        """Relations that begin or end near one of `names`, each once, and how near: the sum of the
        cosines of its ends, so that what joins two of the names comes before all else that one of
        them is joined to. Nearest first, then what was seen last. Of each further hop, behind all
        nearer ones, the relations of where those lead.
        """
        near = self.near(names)
        found: dict[tuple[str, str, str], tuple[Relation, float]] = {}
        for _ in range(hops):
            held = self._store.relations(self._owner, near) if near else []
            rated = [
                (one, near.get(one.source, 0.0) + near.get(one.target, 0.0))
                for one in held
                if one.key not in found
            ]
            rated.sort(key=lambda pair: (-pair[1], -_order(pair[0].last_seen), pair[0].key))
            found |= {one.key: (one, value) for one, value in rated}
            near = dict.fromkeys((end for one, _ in rated for end in (one.source, one.target)), 0.0)
        return list(found.values())

    def relations(self) -> list[Relation]:
        """All, those that ended too."""
        return self._store.relations(self._owner)

    def size(self) -> dict[str, int]:
        """Numbers of nodes and of edges, and their bytes: a line of JSON each, by the properties
        that a store keeps, and the vectors of the nodes; see memsys/stores/size.py.
        """
        nodes, edges = self._store.nodes(self._owner), self._store.relations(self._owner)
        vectors = singles(node.vector for node in nodes)
        rows = [{n: v for n, v in node_row(node).items() if n != "embedding"} for node in nodes]
        size = lines(rows) + vectors + lines(relation_row(edge) for edge in edges)
        return {"nodes": len(nodes), "edges": len(edges), "bytes": size}

    def ends(self, relations: Collection[Relation]) -> list[tuple[Node, Node]]:
        """Source and target of each of `relations`."""
        ids = {end for one in relations for end in (one.source, one.target)}
        nodes = {node.id: node for node in self._store.nodes(self._owner, ids)}
        return [(nodes[one.source], nodes[one.target]) for one in relations]

    def sentences(self, relations: Collection[Relation]) -> list[str]:
        """Each of `relations` in words."""
        pairs = zip(relations, self.ends(relations), strict=True)
        return [verbalised(relation, ends) for relation, ends in pairs]

    def plan(self, triples: Sequence[Triple], time: datetime) -> list[Planned]:
        """Resolve the ends of `triples`: an end is the stored node of its name, else the nearest
        within `merge`, else a new one. Triples that come to one relation become one.
        """
        entities = {plain(e.name): e for t in triples for e in (t.source, t.destination)}
        nodes = self._resolved(entities, time)
        found: dict[tuple[str, str, str], Planned] = {}
        for one in triples:
            ends = nodes[plain(one.source.name)], nodes[plain(one.destination.name)]
            planned = Planned(one, ends)
            if ends[0].id == ends[1].id:
                continue
            if planned.key in found:
                first = found[planned.key].triple
                turns = tuple(dict.fromkeys((*first.turns, *one.turns)))
                planned = Planned(replace(first, turns=turns), ends)
            found[planned.key] = planned
        return list(found.values())

    def end(self, relations: Sequence[Relation], time: datetime) -> Applied:
        """They do not hold any more, by what was said at `time`: deleted, or marked so."""
        if self._settings.on_conflict == "delete":
            self._store.drop_relations(self._owner, [one.key for one in relations])
            return "DELETE"
        self._store.put_relations(self._owner, [replace(one, ended=time) for one in relations])
        return "END"

    def add(self, planned: Sequence[Planned], time: datetime) -> list[Applied]:
        """Store what `plan` gave, one mention more each: new, known already, or holding again."""
        ids = {node.id for one in planned for node in one.ends}
        known = {node.id: node for node in self._store.nodes(self._owner, ids)}
        nodes = {node.id: known.get(node.id, node) for one in planned for node in one.ends}
        held = {one.key: one for one in self._store.relations(self._owner, ids)} if ids else {}
        operations: list[Applied] = []
        relations: list[Relation] = []
        for one in planned:
            for end in one.ends:
                node = nodes[end.id]
                nodes[end.id] = replace(node, mentions=node.mentions + 1, last_seen=time)
            old, turns = held.get(one.key), one.triple.turns
            if old is None:
                relations.append(Relation(*one.key, 1, time, time, None, turns))
                operations.append("ADD")
                continue
            turns = tuple(dict.fromkeys((*old.turns, *turns)))
            again = replace(old, mentions=old.mentions + 1, last_seen=time, ended=None, turns=turns)
            relations.append(again)
            operations.append("RENEW" if old.ended else "MENTION")
        self._store.put_nodes(self._owner, list(nodes.values()))
        self._store.put_relations(self._owner, relations)
        return operations

    def clear(self) -> None:
        """Forget all."""
        self._store.clear(self._owner)

    def _resolved(self, entities: dict[str, Entity], time: datetime) -> dict[str, Node]:
        """The node of each of `entities`, by plain name; those of no store have no mention yet."""
        stored = {node.id: node for node in self._store.nodes(self._owner, entities.keys())}
        unknown = {id_: entity for id_, entity in entities.items() if id_ not in stored}
        vectors = self._vectors([entity.name for entity in unknown.values()])
        fresh: list[Node] = []
        for (id_, entity), vector in zip(unknown.items(), vectors, strict=True):
            near = self._store.similar(self._owner, vector, self._settings.merge, 1)
            candidates = [(node, cosine) for node, cosine in near]
            candidates += [(node, float(node.vector @ vector)) for node in fresh]
            best = max(candidates, key=lambda pair: pair[1], default=None)
            if best and best[1] >= self._settings.merge:
                stored[id_] = best[0]
            else:
                stored[id_] = Node(id_, entity.name, entity.kind, vector, 0, time, time)
                fresh.append(stored[id_])
        return stored

    def _vectors(self, names: Iterable[str]) -> Vectors:
        """Unit vectors of `names`, as documents all of them: names are compared with names."""
        found = list(names)
        return self._embedder.documents(found) if found else np.zeros((0, 1), dtype=np.float32)


def _order(time: datetime) -> float:
    """Seconds since the first year, for sorting; a naive time has no zone to be asked for."""
    return (time - datetime.min).total_seconds()
