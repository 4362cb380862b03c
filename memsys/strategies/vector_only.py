"""Vector search: the baseline that a graph has to beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.index.rank import Start
from memsys.strategy import Strategy
from memsys.types import Candidate, Query


class VectorOnly(Strategy):
    """Top k by cosine of the embedded query, within the conversation."""

    start: ClassVar[Start | None] = "vector"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by cosine, -1 to 1."""
        return self.best(self.store.ranking(query.text, "vector")), {}
