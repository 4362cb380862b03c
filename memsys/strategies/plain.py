"""Strategies without a graph: vector search, and the whole conversation."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.core.types import Candidate, Query
from memsys.index.rank import Start
from memsys.strategies.strategy import Strategy


class VectorOnly(Strategy):
    """Top k by cosine within the conversation: the baseline that a graph has to beat."""

    start: ClassVar[Start | None] = "vector"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by cosine, -1 to 1."""
        return self.best(self.store.ranking(query.text, "vector")), {}


class FullContext(Strategy):
    """All memories in order, or the newest that fit the budget: the ceiling of recall and cost."""

    ranks: ClassVar[bool] = False

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:  # noqa: ARG002
        """Rank all memories with score 1, oldest first: a session is written in rank order."""
        whole = self.admitted([Candidate(memory, 1.0) for memory in self.store.memories])
        if self.budget is None:
            return whole, {}
        return self.parts.context.write_newest(whole, self.budget)[0], {}
