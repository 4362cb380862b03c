"""The contract of a strategy, and the little that all strategies share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from memsys.errors import InputError
from memsys.index.rank import Scores
from memsys.index.ranking import Dense, Ranking
from memsys.llm.prompt import Prompt
from memsys.memory.base import builder_for
from memsys.store import Parts, Store
from memsys.text.tokens import count_tokens
from memsys.types import Candidate, Query, Retrieval, Session


class MemoryStrategy(Protocol):
    """Two verbs. One object serves one conversation; a run makes one for each, and some only to
    see whether the configuration will do: start nothing costly before the first session.

    A strategy may also have, and a run then heeds: `events`, a list of JSON objects that goes into
    ingest.jsonl session by session and is emptied; `prompts`, by which it asks a model, by role;
    `details`, a JSON object on the system behind it for the manifest, with `degraded`, a list of
    what that system does without here; `size()`, what it holds once all is ingested and a first
    question was asked, by unit (memories, tokens, nodes, edges, bytes); `close()`, called when its
    conversation is done with.
    """

    def ingest(self, session: Session) -> int:
        """Remember `session`; sessions come in order. Returns how many memories were made."""
        ...

    def retrieve(self, query: Query) -> Retrieval:
        """What to put before the reader. Must not change what a later query finds."""
        ...


class Strategy(ABC):
    """A strategy over a store: say how to rank, and the rest is shared.

    `rank` returns candidates, best first, with a trace of plain JSON values; the k best that fit
    `budget` o200k tokens become the context (None: no limit).
    """

    # Only the oracle baseline sees evidence; it is named here so that a run can say so.
    sees_evidence: ClassVar[bool] = False
    # Whether `rank` may ask for `store.graph`: it is then told of, asked for so far or not.
    uses_graph: ClassVar[bool] = False

    def __init__(self, parts: Parts, k: int | None = None, budget: int | None = None) -> None:
        """Raises InputError if `k` or `budget` is below 1, or the memory option wants a model."""
        for name, value in (("k", k), ("budget", budget)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InputError(f"{name}: {value!r}; use a whole number of 1 or more")
        memory = builder_for(parts.memory, parts.llm)
        self.parts, self.k, self.budget = replace(parts, memory=memory), k, budget
        self.store = Store(self.parts)
        # Of memories that a model writes; see MemoryStrategy.
        self.events: list[dict[str, Any]] = getattr(memory, "events", [])
        self.prompts: dict[str, Prompt] = dict(getattr(memory, "prompts", {}))

    def best(self, scores: Scores | Ranking) -> list[Candidate]:
        """The k memories of the highest `scores`, shape (n,), or of a ranking, best first."""
        ranking = Dense(scores) if isinstance(scores, np.ndarray) else scores
        return [Candidate(self.store.memories[row], value) for row, value in ranking.best(self.k)]

    @abstractmethod
    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Candidates for `query`, best first, and what to record of the decision."""

    def ingest(self, session: Session) -> int:
        """See MemoryStrategy."""
        memories = self.parts.memory.build(session)
        self.store.add(memories)
        return len(memories)

    def size(self) -> Mapping[str, int]:
        """See Store.size. A strategy that holds more than its store says so."""
        return self.store.size(graph=self.uses_graph)

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy."""
        ranked, trace = self.rank(query) if self.store.memories else ((), {})
        kept, context = self.parts.context.write(ranked[: self.k], self.budget)
        return Retrieval(kept, context, count_tokens(context), trace)
