"""Everything that was said: the ceiling of recall and of cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memsys.strategy import Strategy
from memsys.types import Candidate, Query


class FullContext(Strategy):
    """All memories in order. With a budget the newest are kept."""

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:  # noqa: ARG002
        """All with score 1, oldest first, as turns of one session are written in rank order."""
        if self.budget is None:
            return [Candidate(memory, 1.0) for memory in self.store.memories], {}
        newest_first = [Candidate(memory, 1.0) for memory in reversed(self.store.memories)]
        kept, _ = self.parts.context.write(newest_first, self.budget)
        return kept[::-1], {}
