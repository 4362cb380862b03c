"""Relations between entities that a model writes beside the memories, and their search by owner."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock

from memsys.core.errors import InputError
from memsys.core.types import Session
from memsys.embed.cache import CachedEmbedder
from memsys.index.rank import IndexSettings
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.facts.fact_writer import Compare
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.find import RelationFinder, RelationSettings
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.graph_writer import GraphWriter
from memsys.knowledge.relations.relation_graph import (
    RelationGraph,
    forget_turns,
)
from memsys.knowledge.relations.triples import as_memory, id_of
from memsys.knowledge.relations.written_graph import WrittenGraph
from memsys.llm.base import LLM
from memsys.service.database import MemoryDatabase
from memsys.service.owners import NoModelError, Owner, public_ids
from memsys.service.relation_parts import RelationParts
from memsys.service.results import FoundRelation, RelationChange
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import RelationStore

_FILE = "relations.sqlite"  # in the memory's folder
_FINDERS = 64  # cached, one per owner that is searched for


@dataclass(frozen=True, slots=True)
class RelationSetup:
    """How a model writes relations, and how they are found. `compare`: new ones with all that match
    the ids given, or only with those of exactly these ids. `max_share`: see link_memories; None if
    the relations are found beside memories, which they do not link. `store`: None for a file in the
    memory's folder.
    """

    llm: LLM
    index: IndexSettings
    graph: RelationGraphSettings
    search: RelationSettings
    compare: Compare = "filter"
    max_share: float | None = None
    store: RelationStore | None = None


class RelationMemory:
    """The relations of the owners of a memory. Each user, agent and run has a part of the relation
    store under a random key, which the database knows. An owner reads all parts that its ids
    match, and ends the relations in them, but adds to its own. Thread-safe; `lock`, that of the
    database, is not held while a model is asked. Messages without a name are the user's: "I" in
    them, and in a query, is the node of the user_id.
    """

    def __init__(
        self,
        setup: RelationSetup | None,
        database: MemoryDatabase,
        embedder: CachedEmbedder,
        lock: RLock,
    ) -> None:
        """`setup`: None to delete relations only. Raises InputError if a prompt or the store cannot
        be used.
        """
        self._database, self._embedder, self._lock = database, embedder, lock
        self._owned = RelationParts(database)
        self._setup, self._store = setup, setup.store if setup else None
        file = database.path.with_name(_FILE)
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
