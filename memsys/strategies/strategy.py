"""Base classes of strategies: the contract with a run, and the strategy over a store."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from memsys.core.declared import Count, check_values
from memsys.core.tokens import count_tokens
from memsys.core.turns import line
from memsys.core.types import Candidate, Query, Retrieval, Session
from memsys.index.rank import Dense, Ranking, Scores, Start
from memsys.knowledge.memory.base import builder_for
from memsys.knowledge.relations.triples import Unsaid
from memsys.knowledge.relations.written_graph import WrittenByModel, WrittenGraph
from memsys.llm.prompt import Prompt
from memsys.strategies.store import Parts, Store


class MemoryStrategy(ABC):
    """A memory system: it ingests sessions and retrieves for queries.

    One object serves one conversation. A run creates one per conversation, and further ones only to
    check the configuration: start nothing costly before the first session. Everything but `ingest`
    and `retrieve` is optional.
    """

    # Whether the constructor takes `evidence`, the gold evidence of each question (the oracle).
    sees_evidence: ClassVar[bool] = False
    # Whether a model writes the memories, so that ingestion itself asks one.
    writes_memory: ClassVar[bool] = False
    # Whether somebody else wrote the memories, whose text of the conversation the constructor takes
    # as `text`: neither the turns that they are from nor the cost of writing them is known.
    written_elsewhere: ClassVar[bool] = False
    # Whether a model also writes relations between entities, which are found beside the memories.
    writes_relations: ClassVar[bool] = False
    # The ranking that a plain store of memories would need to rank alike; None if none does.
    start: ClassVar[Start | None] = None

    # Number of memories to retrieve; None for no limit.
    k: int | None = None
    # Prompts by role with which the strategy asks a model, for the manifest.
    prompts: Mapping[str, Prompt] = MappingProxyType({})
    # JSON object about the system behind the strategy, for the manifest; its list `degraded` names
    # what that system does without in this run.
    details: Mapping[str, Any] = MappingProxyType({})

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Log of JSON objects; a run moves it to ingest.jsonl after each session."""
        return []

    @abstractmethod
    def ingest(self, session: Session) -> int:
        """Add `session`, in order of time, to the memory; return the number of memories added."""

    @abstractmethod
    def retrieve(self, query: Query) -> Retrieval:
        """Return the context for `query`; must not change the result of a later query."""

    def forget(self, turns: Sequence[str]) -> int | None:  # noqa: ARG002
        """Delete what the memory has of `turns`, ids of ingested turns, and return the number of
        memories deleted or rewritten; None if the system cannot delete.
        """
        return None

    def size(self) -> Mapping[str, int]:
        """Return the size of the memory by unit (memories, tokens, nodes, edges, bytes). A run asks
        once, after all sessions and a first query. The result is empty if nothing is measured.
        """
        return {}

    def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Release what the strategy has opened; called once, after the last question."""


class Strategy(MemoryStrategy):
    """A strategy over a store: a subclass only ranks.

    `rank` returns candidates, best first, with a trace of plain JSON values; the k best that fit
    `budget` o200k tokens become the context (None: no limit). What follows below the k best counts
    in the recorded ranking alone. With `parts.owner_filter` only memories of the query's
    conversation are candidates, while indexes and graph are those of the whole store.
    """

    # Whether `rank` orders memories by relevance; False where it only selects some.
    ranks: ClassVar[bool] = True
    # Whether `rank` may use `store.graph`; its nodes and edges then count in `size`.
    uses_graph: ClassVar[bool] = False

    def __init__(self, parts: Parts, k: Count | None = None, budget: Count | None = None) -> None:
        """Raises InputError if `k` or `budget` is below 1, or if the memory option, the graph or
        the context needs a model.
        """
        check_values(Strategy, locals(), "strategy")
        self._owner: str | None = None  # of the current query, where others' memories are hidden
        self._written: WrittenGraph | None = None
        if self.uses_graph and isinstance(parts.graph, WrittenByModel):
            self._written = parts.graph.open(parts.llm, parts.embedder)
        memory = builder_for(parts.memory, parts.llm, self._written)
        graph = self._written or parts.graph
        self.parts, self.k, self.budget = replace(parts, memory=memory, graph=graph), k, budget
        self.prompts = memory.prompts
        self._summariser = parts.context.summariser(parts.llm)
        if self._summariser is not None:
            self.prompts = {**self.prompts, "memory_summary": self._summariser.prompt}
        if memory is not parts.memory:  # a builder without a state is shared by all conversations
            self.events = memory.events
        if self._written is not None:
            self.prompts = {**self.prompts, **self._written.prompts}
        self.store = Store(self.parts)
        self._sessions: list[tuple[Session, int]] = []  # and the number of memories of each

    @property
    def reach(self) -> int | None:
        """Number of memories to rank: k, or the recorded depth if that is more; None for all."""
        return None if self.k is None else max(self.k, self.parts.depth)

    def best(self, scores: Scores | Ranking, number: int | None = None) -> list[Candidate]:
        """Return the `number` (None: `reach`) best memories by `scores`, shape (n,), or of a
        ranking, best first.
        """
        ranking = Dense(scores) if isinstance(scores, np.ndarray) else scores
        number = self.reach if number is None else number
        if self._owner is None:
            scored_rows = ranking.best(number)
        else:
            owned = ((row, value) for row, value in ranking.best(None) if self.visible(row))
            scored_rows = list(islice(owned, number))
        return [Candidate(self.store.memories[row], value) for row, value in scored_rows]

    def visible(self, row: int) -> bool:
        """Return whether the owner filter, if any, admits the memory of `row` to the query."""
        return self._owner is None or self.store.owners[row] == self._owner

    def admitted(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return those of `candidates` that the owner filter, if any, admits to the query."""
        if self._owner is None:
            return candidates
        rows = self.store.rows
        return [candidate for candidate in candidates if self.visible(rows[candidate.memory.id])]

    def continued(
        self, candidates: Sequence[Candidate], scores: Scores | Ranking
    ) -> Sequence[Candidate]:
        """Return `candidates`, best first, followed by the best of `scores` that are not among
        them, to the recorded depth. Their scores may be on another scale.
        """
        if len(candidates) >= self.parts.depth:
            return candidates
        present = {candidate.memory.id for candidate in candidates}
        return [
            *candidates,
            *(candidate for candidate in self.best(scores) if candidate.memory.id not in present),
        ]

    @abstractmethod
    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Return the candidates for `query`, best first, and the trace of the decision. Candidates
        below the k that are read are recorded and measured, to `parts.depth`: see `continued`.
        Relations of entities (`Candidate.beside`) come in addition to the k.
        """

    def ingest(self, session: Session) -> int:
        """See MemoryStrategy."""
        memories = self.parts.memory.build(session)
        if self._written is not None:
            self._written.write(session, self.events)
        if self.parts.memory.goes_on:
            return self.store.add_grown(memories, session.owner)
        self.store.add(memories, session.owner)
        self._sessions.append((session, len(memories)))
        return len(memories)

    def forget(self, turns: Sequence[str]) -> int | None:
        """Delete `turns` from the store, which is then that of a conversation without them: no
        memory, index, vector, graph or summary contains their words. Of what a model wrote, that
        which rests on the turns is deleted, and the model is not asked again. None where the
        memories are stored elsewhere, or go on from session to session.
        """
        if not self._sessions:
            return None
        gone, first, changed = frozenset(turns), 0, 0
        unsaid = None if self._written is None else self.unsaid(gone)
        for place, (session, number) in enumerate(self._sessions):
            old = self.store.memories[first : first + number]
            new = self.parts.memory.remaining(session, old, gone)
            if new is not old:
                removed = self.store.replace(first, number, new)
                changed += len(removed)
                if self._summariser is not None:
                    self._summariser.forget(memory.content for memory in removed)
            self._sessions[place] = session.without(gone), len(new)
            first += len(new)
        if self._written is not None and unsaid is not None:
            changed += self._written.forget(gone, unsaid)
            self.store.drop_derived()  # the graph may change although no memory does
        return changed

    def unsaid(self, gone: Collection[str]) -> Unsaid:
        """Return the names that occur in the turns `gone` and in no other of the ingested ones."""
        turns = [turn for session, _ in self._sessions for turn in session.turns]
        return Unsaid(
            [line(turn) for turn in turns if turn.id in gone],
            [line(turn) for turn in turns if turn.id not in gone],
        )

    def close(self) -> None:
        """Delete the graph that a model wrote from a shared store."""
        if self._written is not None:
            self._written.clear()

    def size(self) -> Mapping[str, int]:
        """Return the size of the store (see Store.size); a subclass with more adds to it."""
        return self.store.size(graph=self.uses_graph)

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy."""
        self._owner = query.conversation if self.parts.owner_filter else None
        ranked, trace = self.rank(query) if self.store.memories else ((), {})
        beside = [candidate for candidate in ranked if candidate.beside]
        ranked = self.admitted(
            [candidate for candidate in ranked if not candidate.beside] if beside else ranked
        )
        retrieval = self.retrieval(with_beside(ranked[: self.k], beside), trace)
        if not (self.ranks and self.parts.depth):
            return retrieval
        ranking = tuple(ranked[: self.parts.depth])
        owners = self.store.owners
        seen = len(owners) if self._owner is None else owners.count(self._owner)
        return replace(retrieval, ranking=ranking, ranked_all=len(ranking) == seen)

    def retrieval(self, ranked: Sequence[Candidate], trace: Mapping[str, Any]) -> Retrieval:
        """Return the retrieval of those of `ranked`, best first, that fit the budget; long ones are
        summarised before, if the context asks for it, and the trace says which.
        """
        if self._summariser is not None:
            ranked, lengths = self._summariser.shortened(ranked)
            trace = {**trace, "summarised": lengths} if lengths else trace
        fitting, context = self.parts.context.write(ranked, self.budget)
        return Retrieval(fitting, context, count_tokens(context), trace)


def with_beside(ranked: Sequence[Candidate], beside: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return `ranked` and the relations `beside` in the order of their scores, in which they get
    the budget; `ranked` itself without any.
    """
    return sorted([*ranked, *beside], key=lambda candidate: -candidate.score) if beside else ranked
