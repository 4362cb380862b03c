"""The evidence itself: the ceiling of retrieval for a given reader."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from memsys.store import Parts
from memsys.strategy import Strategy
from memsys.types import Candidate, Query


class Oracle(Strategy):
    """Every memory that holds an evidence turn of the question, whatever k says."""

    sees_evidence: ClassVar[bool] = True

    def __init__(
        self, parts: Parts, budget: int | None, evidence: Mapping[str, Collection[str]]
    ) -> None:
        """`evidence` maps a question's id to its evidence turn ids; no other strategy gets it."""
        super().__init__(parts, None, budget)
        self._evidence = evidence

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Score 1 for each; nothing where a question has no evidence."""
        wanted = set(self._evidence.get(query.id, ()))
        return [Candidate(m, 1.0) for m in self.store.memories if wanted.intersection(m.turns)], {}
