"""Relations between entities that a model writes beside the memories, and their search by owner."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, astuple
from uuid import uuid4

from memsys.core.errors import InputError
from memsys.core.types import Session
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.find import RelationFinder
from memsys.knowledge.relations.graph_writer import GraphWriter
from memsys.knowledge.relations.relation_graph import RelationGraph, forget_turns
from memsys.knowledge.relations.triples import as_memory, id_of
from memsys.knowledge.relations.written_graph import WrittenGraph
from memsys.service.arguments import NoModelError, Owner, public_ids
from memsys.service.database import IN_LIST, MemoryDatabase, owner_condition
from memsys.service.results import FoundRelation, RelationChange
from memsys.service.setup import RelationSetup
from memsys.service.writing import Writer
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import RelationStore

_FILE = "relations.sqlite"  # in the memory's folder
_FINDERS = 64  # cached, one per owner that is searched for


class RelationMemory:
    """The relations of the owners of a memory. Each user, agent and run has a part of the relation
    store under a random key, which the database knows. An owner reads all parts that its ids
    match, and ends the relations in them, but adds to its own. Thread-safe; the lock of the
    database is not held while a model is asked. Messages without a name are the user's: "I" in
    them, and in a query, is the node of the user_id.
    """

    def __init__(self, setup: RelationSetup | None, writer: Writer) -> None:
        """`setup`: None to delete relations only. Raises InputError if a prompt or the store cannot
        be used.
        """
        self._database, self._embedder = writer.database, writer.embedder
        self._lock, self._owned = writer.lock, RelationParts(writer.database)
        self._setup, self._store = setup, setup.store if setup else None
        file = self._database.path.with_name(_FILE)
        if self._store is None and (setup or file.exists()):
            self._store = NetworkxRelations(str(file))
        if setup is not None:
            self._extractor(setup, Owner())  # its prompts are checked now
        self._finders: dict[Owner, tuple[list[tuple[str, int]], RelationFinder]] = {}

    @property
    def enabled(self) -> bool:
        """Whether relations are written."""
        return self._setup is not None

    @property
    def links(self) -> bool:
        """Whether relations link memories, for strategies over a graph."""
        return self._setup is not None and self._setup.max_share is not None

    def parts(self, owner: Owner) -> list[tuple[str, int]]:
        """Return keys and versions of the parts of `owner`: equal ones have equal relations."""
        with self._lock:
            return self._owned.of(owner)

    def linking(self, keys: Sequence[str]) -> WrittenGraph:
        """Return the graph that links memories by the relations of the parts `keys`."""
        setup, store = self._parts()
        extractor = self._extractor(setup, Owner())
        first = keys[0] if keys else "nobody"
        graph = RelationGraph(store, first, self._embedder, setup.graph, keys[1:])
        return WrittenGraph(extractor, graph, setup.graph, setup.max_share or 0.0)

    def reply_part(self, owner: Owner) -> SameReply:
        """Return what reads the relations in the replies with the facts of one `write`."""
        return SameReply(self._extractor(self._parts()[0], owner))

    def write(
        self,
        session: Session,
        owner: Owner,
        public: Mapping[str, str],
        log: list[Event],
        found: SameReply | None = None,
    ) -> list[RelationChange]:
        """Let the model write the relations of `session`, and return their changes; the calls are
        logged. `public`: the keys of its turns (see turn_key). `found`: see GraphWriter. Raises
        LLMError if the model answered for no exchange.
        """
        setup, store = self._parts()
        extractor = self._extractor(setup, owner)
        with self._lock, self._database.writing():
            key, *others = self._owned.open(owner)
        if setup.compare == "owner":
            others = []
        graph = RelationGraph(store, key, self._embedder, setup.graph, others)
        writer = GraphWriter(extractor, graph, setup.graph, log, found, public)
        try:
            writer.write(session)
        finally:
            with self._lock, self._database.writing():
                self._owned.changed(owner, [key, *others])
        return [RelationChange(**one._asdict()) for one in writer.changes]

    def find(self, query: str, owner: Owner) -> list[FoundRelation]:
        """Return the best relations of `owner` for `query`, best first. Raises NoModelError without
        relations, LLMError if a model has to name the query's entities and gives no usable reply.
        """
        self._parts()
        parts = self.parts(owner)
        if not parts:
            return []
        finder = self._finder(owner, parts)
        try:
            return _found(finder, query)
        except KeyError:  # a part was deleted while it was read
            if self.parts(owner) == parts:
                raise
            return self.find(query, owner)

    def delete(self, owner: Owner | None) -> None:
        """Delete all relations of `owner` (None: of all). Raises InputError if they are in a store
        that is not configured.
        """
        with self._lock:
            keys = self._deletable([key for key, _ in self._owned.of(owner)])
            if self._store is not None:
                for key in keys:
                    self._store.clear(key)
            with self._database.writing():  # last: after a kill the deletion can be repeated
                self._owned.drop(keys)

    def forget(self, owner: Owner, turns: Collection[str]) -> None:
        """Delete the relations that rest on `turns`, keys of messages of a memory of `owner`; see
        forget_turns. An entity that other messages name too keeps its first name. Raises InputError
        like `delete`.
        """
        with self._lock:
            keys = self._deletable(self._owned.behind(owner))
            if self._store is None or not keys:
                return
            for key in keys:
                forget_turns(self._store, key, turns)
            with self._database.writing():
                self._owned.count(keys)

    def compact(self) -> bool:
        """Compact the store; see VectorStore.compact."""
        return self._store is None or self._store.compact()

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()

    def _parts(self) -> tuple[RelationSetup, RelationStore]:
        if self._setup is None or self._store is None:
            raise NoModelError(
                "enable_graph: this memory has no relations; use a run of strategy=mem0_graph, or "
                "a YAML file with strategy: mem0_graph and llm"
            )
        return self._setup, self._store

    def _deletable(self, keys: list[str]) -> list[str]:
        """Return `keys`, those of an owner's parts. Raises InputError if they cannot be reached."""
        if keys and self._store is None:
            raise InputError(
                "relations: those of the owner are in a store that this configuration does not "
                "name; delete with that of relation_store, by which they were written"
            )
        return keys

    @staticmethod
    def _extractor(setup: RelationSetup, owner: Owner) -> RelationExtractor:
        return RelationExtractor(setup.llm, setup.graph, owner.user_id)

    def _finder(self, owner: Owner, parts: list[tuple[str, int]]) -> RelationFinder:
        """Return what finds relations in `parts`, those of `owner`; it is cached."""
        setup, store = self._parts()
        with self._lock:
            cached = self._finders.pop(owner, None)
            if cached is None or cached[0] != parts:
                first, *others = (key for key, _ in parts)
                graph = RelationGraph(store, first, self._embedder, setup.graph, others)
                extractor = self._extractor(setup, owner)
                made = RelationFinder(graph, extractor, self._embedder, setup.index, setup.search)
                cached = parts, made
            while len(self._finders) >= _FINDERS:
                self._finders.pop(next(iter(self._finders)))
            self._finders[owner] = cached
        return cached[1]


def _found(finder: RelationFinder, query: str) -> list[FoundRelation]:
    """Return the relations that `finder` finds, with their ends. Raises KeyError if nodes are
    deleted during the search.
    """
    candidates, _ = finder.find(query)
    by_id = {id_of(one): one for one in finder.graph.relations()} if candidates else {}
    found = [(by_id[one.memory.id], one.score) for one in candidates if one.memory.id in by_id]
    ends = finder.graph.ends([relation for relation, _ in found])
    return [
        FoundRelation(
            source=source.name,
            relationship=relation.name,
            destination=destination.name,
            score=score,
            time=relation.created,
            ended=relation.ended,
            mentions=relation.mentions,
            turns=public_ids(relation.turns),
            memory=as_memory(relation, (source, destination)),
        )
        for (relation, score), (source, destination) in zip(found, ends, strict=True)
    ]


class RelationParts:
    """A table of the database: a part of a relation store per user, agent and run, its random key,
    and a version that changes with its relations. Callers hold the lock of the database, and a
    transaction for changes.
    """

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    def of(self, owner: Owner | None) -> list[tuple[str, int]]:
        """Return key and version of every part that belongs to `owner` (None: to anybody), sorted
        by key.
        """
        condition, values = owner_condition(owner)
        query = f"SELECT key, version FROM relation_parts WHERE {condition} ORDER BY key"  # noqa: S608
        return [(key, version) for key, version in self._database.execute(query, values)]

    def open(self, owner: Owner) -> list[str]:
        """Return the key of the part of exactly `owner`, which is created if absent, and those of
        the other parts that belong to `owner`.
        """
        ids = astuple(owner)
        query = "SELECT key FROM relation_parts WHERE (user_id, agent_id, run_id) IS (?, ?, ?)"
        row = self._database.execute(query, ids).fetchone()
        key = row[0] if row else uuid4().hex
        if row is None:
            self._database.execute("INSERT INTO relation_parts VALUES (?, ?, ?, ?, 0)", (key, *ids))
        return [key, *(other for other, _ in self.of(owner) if other != key)]

    def behind(self, owner: Owner) -> list[str]:
        """Return the keys of the parts of exactly `owner`, or of some of its ids and no other: of
        the messages from which a memory of `owner` may be written.
        """
        ids = asdict(owner)
        condition = " AND ".join(f"({name} IS NULL OR {name}=?)" for name in ids)
        query = f"SELECT key FROM relation_parts WHERE {condition} ORDER BY key"  # noqa: S608
        return [key for (key,) in self._database.execute(query, list(ids.values()))]

    def changed(self, owner: Owner, keys: Sequence[str]) -> None:
        """Count a change of the parts `keys`, the first that of exactly `owner`; one that was
        deleted meanwhile is created again.
        """
        ids = astuple(owner)
        insert = "INSERT OR IGNORE INTO relation_parts VALUES (?, ?, ?, ?, 0)"
        self._database.execute(insert, (keys[0], *ids))
        self.count(keys)

    def count(self, keys: Sequence[str]) -> None:
        """Count a change of the parts `keys`, of those that exist still."""
        update = f"UPDATE relation_parts SET version = version + 1 WHERE key {IN_LIST}"  # noqa: S608
        self._database.execute(update, (json.dumps(list(keys)),))

    def drop(self, keys: Sequence[str]) -> None:
        """Delete the rows of the parts `keys`."""
        query = f"DELETE FROM relation_parts WHERE key {IN_LIST}"  # noqa: S608
        self._database.execute(query, (json.dumps(list(keys)),))
