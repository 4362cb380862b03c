"""Hybrid of lexical and vector search, which graph strategies may also start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.index.rank import Start
from memsys.strategy import Strategy
from memsys.types import Candidate, Query


class HybridRank(Strategy):
    """Top k by the convex mix of BM25 and cosine; its weight is `index.alpha`."""

    start: ClassVar[Start | None] = "hybrid"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the mix, 0 to 1."""
        return self.best(self.store.relevance(query.text, "hybrid")), {}
