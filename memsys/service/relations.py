"""Relations between entities that a model writes beside the memories, and their search by owner."""

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
from memsys.knowledge.relations.triples import id_of
from memsys.knowledge.relations.written_graph import WrittenGraph
from memsys.service.arguments import NoModelError, Owner, public_ids
from memsys.service.database import IN_LIST, owner_condition
from memsys.service.results import FoundRelation, RelationChange
from memsys.service.setup import RelationSetup, Setup
from memsys.service.writing import Writer
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import RelationStore

_FILE = "relations.sqlite"  # in the memory's folder
_FINDERS = 64  # cached, one per owner that is searched for
Parts = list[tuple[str, int]]  # keys and versions


class RelationMemory:
    """The relations of the owners of a memory. Each user, agent and run has a part of the relation
    store under a random key, which the database knows with a version that changes with its
    relations. An owner reads all parts that its ids match, and ends the relations in them, but adds
    to its own. Thread-safe; the lock of the database is not held while a model is asked. Messages
    without a name are the user's: "I" in them, and in a query, is the node of the user_id.
    """

    def __init__(self, setup: Setup, writer: Writer) -> None:
        """Without `setup.relations`, relations are deleted only. Raises InputError if a prompt or
        the store cannot be used.
        """
        self._setup, self._embedder = setup, writer.embedder
        self._database, self._lock = writer.database, writer.lock
        self._store = setup.relations.store if setup.relations else None
        file = self._database.path.with_name(_FILE)
        if self._store is None and (setup.relations or file.exists()):
            self._store = NetworkxRelations(str(file))
        if setup.relations:
            self._extractor(Owner())  # its prompts are checked now
        self._finders: dict[Owner, tuple[Parts, RelationFinder]] = {}

    @property
    def enabled(self) -> bool:
        """Whether relations are written."""
        return self._setup.relations is not None

    @property
    def links(self) -> bool:
        """Whether relations link memories, for strategies over a graph."""
        relations = self._setup.relations
        return relations is not None and relations.max_share is not None

    @property
    def finds_beside(self) -> bool:
        """Whether relations are found beside the memories by default."""
        return self.enabled and not self.links

    def parts(self, owner: Owner | None) -> Parts:
        """Return keys and versions of the parts of `owner` (None: of anybody), sorted by key: equal
        ones have equal relations.
        """
        condition, values = owner_condition(owner)
        query = f"SELECT key, version FROM relation_parts WHERE {condition} ORDER BY key"  # noqa: S608
        with self._lock:
            return [(key, version) for key, version in self._database.execute(query, values)]

    def linking(self, keys: Sequence[str]) -> WrittenGraph:
        """Return the graph that links memories by the relations of the parts `keys`."""
        relations, _ = self._settings()
        graph = self._graph(keys or ["nobody"])
        share = relations.max_share or 0.0
        return WrittenGraph(self._extractor(Owner()), graph, relations.graph, share)

    def reply_part(self, owner: Owner) -> SameReply:
        """Return what reads the relations in the replies with the facts of one `write`."""
        return SameReply(self._extractor(owner))

    def write(
        self,
        session: Session,
        owner: Owner,
        public: Mapping[str, str],
        log: list[Event],
        reply_part: SameReply | None = None,
    ) -> list[RelationChange]:
        """Let the model write the relations of `session`, and return their changes; the calls are
        logged. `public`: the keys of its turns (see turn_key). `reply_part`: see GraphWriter.
        Raises LLMError if the model answered for no exchange.
        """
        ids, insert = astuple(owner), "INSERT OR IGNORE INTO relation_parts VALUES (?, ?, ?, ?, 0)"
        own = "SELECT key FROM relation_parts WHERE (user_id, agent_id, run_id) IS (?, ?, ?)"
        with self._lock, self._database.writing():
            row = self._database.execute(own, ids).fetchone()
            key = row[0] if row else uuid4().hex
            self._database.execute(insert, (key, *ids))
            others = [other for other, _ in self.parts(owner) if other != key]
        keys = [key] if self._setup.update.compare == "owner" else [key, *others]
        settings, extractor = self._settings()[0].graph, self._extractor(owner)
        writer = GraphWriter(extractor, self._graph(keys), settings, reply_part, public)
        try:
            changes = writer.write(session, log)
        finally:
            with self._lock, self._database.writing():  # a part may have been deleted meanwhile
                self._database.execute(insert, (key, *ids))
                self._count(keys)
        return [RelationChange(**change._asdict()) for change in changes]

    def find(self, query: str, owner: Owner) -> list[FoundRelation]:
        """Return the best relations of `owner` for `query`, best first. Raises NoModelError without
        relations, LLMError if a model has to name the query's entities and gives no usable reply.
        """
        self._settings()
        while parts := self.parts(owner):
            try:
                return _found_relations(self._finder(owner, parts), query)
            except KeyError:  # a part was deleted while it was read
                if self.parts(owner) == parts:
                    raise
        return []

    def delete(self, owner: Owner | None) -> None:
        """Delete all relations of `owner` (None: of all). Raises InputError if they are in a store
        that is not configured.
        """
        with self._lock:
            keys = [key for key, _ in self.parts(owner)]
            for key in keys:
                self._configured_store().clear(key)
            with self._database.writing():  # last: after a kill the deletion can be repeated
                delete = f"DELETE FROM relation_parts WHERE key {IN_LIST}"  # noqa: S608
                self._database.execute(delete, (json.dumps(keys),))

    def forget(self, owner: Owner, turns: Collection[str]) -> None:
        """Delete the relations that rest on `turns`, keys of messages of a memory of `owner`, in
        the parts of some of its ids and no other, from whose messages the memory may be written;
        see forget_turns. An entity that other messages name too keeps its first name. Raises
        InputError like `delete`.
        """
        ids = asdict(owner)
        condition = " AND ".join(f"({name} IS NULL OR {name}=?)" for name in ids)
        query = f"SELECT key FROM relation_parts WHERE {condition} ORDER BY key"  # noqa: S608
        with self._lock:
            keys = [key for (key,) in self._database.execute(query, list(ids.values()))]
            for key in keys:
                forget_turns(self._configured_store(), key, turns)
            with self._database.writing():
                self._count(keys)

    def compact(self) -> bool:
        """Compact the store; see VectorStore.compact."""
        return self._store is None or self._store.compact()

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()

    def _settings(self) -> tuple[RelationSetup, RelationStore]:
        if self._setup.relations is None or self._store is None:
            raise NoModelError(
                "enable_graph: this memory has no relations; use a run of strategy=mem0_graph, or "
                "a YAML file with strategy: mem0_graph and llm"
            )
        return self._setup.relations, self._store

    def _configured_store(self) -> RelationStore:
        if self._store is None:
            raise InputError(
                "relations: those of the owner are in a store that this configuration does not "
                "name; delete with that of relation_store, by which they were written"
            )
        return self._store

    def _extractor(self, owner: Owner) -> RelationExtractor:
        assert self._setup.llm is not None  # noqa: S101 - relations have one
        return RelationExtractor(self._setup.llm, self._settings()[0].graph, owner.user_id)

    def _graph(self, keys: Sequence[str]) -> RelationGraph:
        """Return the graph of the parts `keys`; what is added is added to the first."""
        relations, store = self._settings()
        return RelationGraph(store, keys[0], self._embedder, relations.graph, keys[1:])

    def _count(self, keys: Sequence[str]) -> None:
        """Count a change of the parts `keys`, of those that exist still."""
        update = f"UPDATE relation_parts SET version = version + 1 WHERE key {IN_LIST}"  # noqa: S608
        self._database.execute(update, (json.dumps(keys),))

    def _finder(self, owner: Owner, parts: Parts) -> RelationFinder:
        """Return what finds relations in `parts`, those of `owner`; it is cached."""
        with self._lock:
            cached = self._finders.pop(owner, None)
            if cached is None or cached[0] != parts:
                graph, search = self._graph([key for key, _ in parts]), self._settings()[0].search
                rest = self._extractor(owner), self._embedder, self._setup.index, search
                cached = parts, RelationFinder(graph, *rest)
            while len(self._finders) >= _FINDERS:
                self._finders.pop(next(iter(self._finders)))
            self._finders[owner] = cached
        return cached[1]


def _found_relations(finder: RelationFinder, query: str) -> list[FoundRelation]:
    """Return the relations that `finder` finds, with their ends. Raises KeyError if nodes are
    deleted during the search.
    """
    candidates, _ = finder.find(query)
    by_id = {id_of(edge.key): edge for edge in finder.graph.relations()} if candidates else {}
    candidates = [candidate for candidate in candidates if candidate.memory.id in by_id]
    related = finder.graph.related([by_id[candidate.memory.id] for candidate in candidates])
    return [
        FoundRelation(
            source=pair.ends[0].name,
            relationship=pair.relation.name,
            destination=pair.ends[1].name,
            score=candidate.score,
            time=pair.relation.created,
            ended=pair.relation.ended,
            mentions=pair.relation.mentions,
            turns=public_ids(pair.relation.turns),
            memory=pair.as_memory(),
        )
        for candidate, pair in zip(candidates, related, strict=True)
    ]
