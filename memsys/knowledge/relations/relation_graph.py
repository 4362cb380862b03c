"""The relation graph of one owner: search around names, and merging of new triples."""

from collections.abc import Collection, Container, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from memsys.core.tokens import count_tokens
from memsys.core.types import Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.facts.fact import plain
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.triples import Entity, Related, Triple
from memsys.stores.relations import NearNode, Node, Relation, RelationStore, row_of
from memsys.stores.size import lines, singles

Applied = Literal["ADD", "MENTION", "RENEW", "DELETE", "END"]
Key = tuple[str, str, str]  # source, name and target of a relation


@dataclass(frozen=True, slots=True)
class Planned:
    """A triple whose ends are resolved to nodes, before anything is stored."""

    triple: Triple
    ends: tuple[Node, Node]

    @property
    def key(self) -> Key:
        """Ids of source and target with the relation's name between them: its identity."""
        return self.ends[0].id, self.triple.name, self.ends[1].id


def _union(relation: Relation, other: Relation) -> Relation:
    ended = (relation.ended, other.ended)
    return Relation(
        *relation.key,
        mentions=relation.mentions + other.mentions,
        created=min(relation.created, other.created),
        last_seen=max(relation.last_seen, other.last_seen),
        ended=None if None in ended else max(time for time in ended if time is not None),
        turns=tuple(dict.fromkeys((*relation.turns, *other.turns))),
    )


def _ends(relations: Iterable[Relation]) -> set[str]:
    """Return the ids of the ends of `relations`."""
    return {end for relation in relations for end in (relation.source, relation.target)}


class RelationGraph:
    """One owner's part of a relation store. A node's id is its plain name, so that equal names are
    one node even if their vectors differ.

    `others` are further owners whose nodes and relations are found, and whose relations are ended,
    as if they were this owner's: a node of several owners is that of the first; a relation of
    several is one, which is valid while it is valid for any of them. `add` and `clear` change
    `owner` only.
    """

    def __init__(
        self,
        store: RelationStore,
        owner: str,
        embedder: CachedEmbedder,
        settings: RelationGraphSettings,
        others: Iterable[str] = (),
    ) -> None:
        self._store, self._owner = store, owner
        self._owners = tuple(dict.fromkeys((owner, *others)))
        self._embedder, self._settings = embedder, settings

    def writing(self) -> AbstractContextManager[None]:
        """Return the store's transaction: see RelationStore.writing."""
        return self._store.writing()

    def _near_nodes(self, names: Sequence[str]) -> dict[str, float]:
        """Return the nodes with a name similar to one of `names`, as id to highest cosine."""
        cosines: dict[str, float] = {}
        same = self._nodes({plain(name) for name in names})
        for vector in self._vectors(names):
            for node, cosine in self._similar_nodes(
                vector, self._settings.threshold, self._settings.nodes
            ):
                cosines[node.id] = max(cosines.get(node.id, -1.0), cosine)
        return cosines | {node.id: 1.0 for node in same}

    def around(self, names: Sequence[str], hops: int = 1) -> list[tuple[Relation, float]]:
        """Return the relations with an end near one of `names`, each once, with its nearness: the
        sum of the cosines of its ends, so relations that join two of the names come first. They are
        sorted by nearness, then most recent first. Each further hop adds, behind all nearer ones,
        the relations at the ends of the previous hop.
        """
        near = self._near_nodes(names)
        by_key: dict[Key, tuple[Relation, float]] = {}
        for _ in range(hops):
            stored = self.relations(near) if near else []
            rated = [
                (relation, near.get(relation.source, 0.0) + near.get(relation.target, 0.0))
                for relation in stored
                if relation.key not in by_key
            ]
            rated.sort(key=lambda pair: pair[0].key)
            rated.sort(key=lambda pair: (pair[1], pair[0].last_seen), reverse=True)
            by_key |= {relation.key: (relation, value) for relation, value in rated}
            near = dict.fromkeys(_ends(relation for relation, _ in rated), 0.0)
        return list(by_key.values())

    def relations(self, nodes: Collection[str] | None = None) -> list[Relation]:
        """Return the relations from or to one of `nodes` (None: all), including those that ended,
        sorted by key.
        """
        by_key: dict[Key, Relation] = {}
        for owner in self._owners:
            for edge in self._store.relations(owner, nodes):
                by_key[edge.key] = _union(by_key[edge.key], edge) if edge.key in by_key else edge
        return [by_key[key] for key in sorted(by_key)]

    def size(self) -> dict[str, int]:
        """Return the numbers of nodes and edges, the o200k tokens of the nodes' names and of the
        edges as sentences, and the bytes of both: one line of JSON each with the stored properties,
        and the vectors of the nodes; see memsys/stores/size.py.
        """
        nodes, edges = self._nodes(), self.relations()
        vectors = singles(node.vector for node in nodes)
        rows = [row_of(node) for node in nodes]
        size = lines(rows) + vectors + lines(row_of(edge) for edge in edges)
        texts = [*(node.name for node in nodes), *(edge.sentence for edge in self.related(edges))]
        tokens = sum(map(count_tokens, texts))
        return {"nodes": len(nodes), "edges": len(edges), "tokens": tokens, "bytes": size}

    def related(self, relations: Collection[Relation]) -> list[Related]:
        """Return `relations` with their ends. Raises KeyError if one has been deleted."""
        nodes = {node.id: node for node in self._nodes(_ends(relations))}
        return [Related(edge, (nodes[edge.source], nodes[edge.target])) for edge in relations]

    def stored(self, relations: Sequence[Relation]) -> list[Related]:
        """Return those of `relations` that are stored still, as they are now."""
        now = {relation.key: relation for relation in self.relations(_ends(relations))}
        return self.related([now[relation.key] for relation in relations if relation.key in now])

    def plan(self, triples: Sequence[Triple], time: datetime) -> list[Planned]:
        """Resolve the ends of `triples`: an end is the stored node of its name, else the nearest
        within `merge`, else a new one. Triples of the same resolved relation are merged.
        """
        entities = {plain(e.name): e for t in triples for e in (t.source, t.destination)}
        nodes = self._resolve(entities, time)
        by_key: dict[Key, Planned] = {}
        for triple in triples:
            ends = nodes[plain(triple.source.name)], nodes[plain(triple.destination.name)]
            planned = Planned(triple, ends)
            if ends[0].id == ends[1].id:
                continue
            if planned.key in by_key:
                first = by_key[planned.key].triple
                turns = tuple(dict.fromkeys((*first.turns, *triple.turns)))
                planned = Planned(replace(first, turns=turns), ends)
            by_key[planned.key] = planned
        return list(by_key.values())

    def end(self, relations: Sequence[Relation], time: datetime) -> Applied:
        """Delete `relations`, or mark them as ended at `time`; return which of the two was done."""
        keys, ends = {relation.key for relation in relations}, _ends(relations)
        delete = self._settings.on_conflict == "delete"
        with self.writing():
            for owner in self._owners:
                stored = self._store.relations(owner, ends)  # may have changed since they were read
                matches = [edge for edge in stored if edge.key in keys]
                if delete:
                    self._store.drop_relations(owner, [edge.key for edge in matches])
                else:
                    ended = [replace(edge, ended=time) for edge in matches if edge.ended is None]
                    self._store.put_relations(owner, ended)
        return "DELETE" if delete else "END"

    def add(self, planned: Sequence[Planned], time: datetime) -> list[Applied]:
        """Store planned triples, in a block of `writing`, and return what each was: new, mentioned
        again, or renewed.
        """
        nodes = {node.id: node for plan in planned for node in plan.ends}
        stored_nodes = {node.id: node for node in self._store.nodes(self._owner, nodes)}
        for id_, node in nodes.items():  # a node of another owner is new here
            unseen = replace(node, mentions=0, created=time, last_seen=time)
            nodes[id_] = stored_nodes.get(id_, unseen)
        stored = {relation.key: relation for relation in self._store.relations(self._owner, nodes)}
        operations: list[Applied] = []
        relations: list[Relation] = []
        for plan in planned:
            for end in plan.ends:
                node = nodes[end.id]
                nodes[end.id] = replace(node, mentions=node.mentions + 1, last_seen=time)
            old, turns = stored.get(plan.key), plan.triple.turns
            if old is None:
                relations.append(Relation(*plan.key, 1, time, time, None, turns))
                operations.append("ADD")
                continue
            turns = tuple(dict.fromkeys((*old.turns, *turns)))
            again = replace(old, mentions=old.mentions + 1, last_seen=time, ended=None, turns=turns)
            relations.append(again)
            operations.append("RENEW" if old.ended else "MENTION")
        self._store.put_nodes(self._owner, list(nodes.values()))
        self._store.put_relations(self._owner, relations)
        return operations

    def forget(self, turns: Collection[str], unsaid: Container[object]) -> int:
        """Delete what rests on `turns`; see forget_turns."""
        return forget_turns(self._store, self._owner, turns, unsaid)

    def clear(self) -> None:
        """Delete all nodes and relations of the owner, and none of the others'."""
        self._store.clear(self._owner)

    def _resolve(self, entities: dict[str, Entity], time: datetime) -> dict[str, Node]:
        """Return the node of each of `entities` by normalised name; new ones have no mention
        yet.
        """
        stored = {node.id: node for node in self._nodes(entities.keys())}
        unknown = {id_: entity for id_, entity in entities.items() if id_ not in stored}
        vectors = self._vectors([entity.name for entity in unknown.values()])
        fresh: list[Node] = []
        for (id_, entity), vector in zip(unknown.items(), vectors, strict=True):
            near = self._similar_nodes(vector, self._settings.merge, 1)
            candidates = [*near, *((node, float(node.vector @ vector)) for node in fresh)]
            best = max(candidates, key=lambda pair: pair[1], default=None)
            if best and best[1] >= self._settings.merge:
                stored[id_] = best[0]
            else:
                stored[id_] = Node(id_, entity.name, entity.kind, vector, 0, time, time)
                fresh.append(stored[id_])
        return stored

    def _nodes(self, ids: Collection[str] | None = None) -> list[Node]:
        by_id: dict[str, Node] = {}
        for owner in self._owners:
            by_id = {node.id: node for node in self._store.nodes(owner, ids)} | by_id
        return [by_id[id_] for id_ in sorted(by_id)]

    def _similar_nodes(self, vector: Vectors, threshold: float, most: int) -> list[NearNode]:
        by_id: dict[str, NearNode] = {}
        for owner in self._owners:
            for near in self._store.similar(owner, vector, threshold, most):
                by_id.setdefault(near.node.id, near)
        return sorted(by_id.values(), key=lambda near: (-near.cosine, near.node.id))[:most]

    def _vectors(self, names: Iterable[str]) -> Vectors:
        """Return unit vectors of `names` as documents: names are compared with names."""
        texts = list(names)
        return self._embedder.documents(texts) if texts else np.zeros((0, 1), dtype=np.float32)


def forget_turns(
    store: RelationStore, owner: str, turns: Collection[str], unsaid: Container[object] = ()
) -> int:
    """Delete from the part of `owner` what rests on `turns` alone, and the entities whose names are
    `unsaid` without them; return the number of relations deleted or rewritten.

    A relation that other turns state too remains, with as many mentions less as turns. One that
    ended because of the turns stays ended: what ended it is not stored.
    """
    with store.writing():
        nodes = {node.id for node in store.nodes(owner) if node.name in unsaid}
        gone, again, ends = [], [], set[str]()
        for edge in store.relations(owner):
            left = tuple(turn for turn in edge.turns if turn not in turns)
            if nodes.intersection((edge.source, edge.target)) or (edge.turns and not left):
                gone.append(edge.key)
                continue
            ends |= {edge.source, edge.target}
            if len(left) < len(edge.turns):
                mentions = max(edge.mentions - len(edge.turns) + len(left), 1)
                again.append(replace(edge, turns=left, mentions=mentions))
        nodes |= {end for key in gone for end in (key[0], key[2])} - ends
        if gone or again or nodes:
            store.put_relations(owner, again)
            store.drop_relations(owner, gone)
            store.drop_nodes(owner, nodes)
    return len(gone) + len(again)
