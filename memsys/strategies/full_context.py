"""The whole conversation: the ceiling of recall and of cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memsys.strategy import Strategy
from memsys.types import Candidate, Query


class FullContext(Strategy):
    """All memories in order; with a budget, the newest that fit."""

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:  # noqa: ARG002
        """Rank all memories with score 1, oldest first: a session is written in rank order."""
        if self.budget is None:
            return [Candidate(memory, 1.0) for memory in self.store.memories], {}
        newest_first = [Candidate(memory, 1.0) for memory in reversed(self.store.memories)]
        fitting, _ = self.parts.context.write(newest_first, self.budget)
        return fitting[::-1], {}
