"""Lexical search, and the hybrid with vector search from which graph strategies may start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.index.rank import Start
from memsys.strategy import Strategy
from memsys.types import Candidate, Query


class BM25(Strategy):
    """Top k by BM25 over stems; no model, no vectors."""

    start: ClassVar[Start | None] = "lexical"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by BM25, 0 or more."""
        return self.best(self.store.bm25(query.text)), {}


class HybridRank(Strategy):
    """Top k by the convex mix of BM25 and cosine; its weight is `index.alpha`."""

    start: ClassVar[Start | None] = "hybrid"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the mix, 0 to 1."""
        return self.best(self.store.relevance(query.text, "hybrid")), {}
