"""Ranking by several signals of each memory, combined by fitted weights."""

from collections.abc import Mapping, Sequence
from typing import Any

from memsys.core.types import Candidate, Query
from memsys.strategies.strategy import Strategy


class Fusion(Strategy):
    """Top k by the fusion of words, vectors, speaker and dates (memsys/index): no model, no key.

    The weights were fitted on five conversations of LoCoMo by `python -m eval.regress.fit_fusion`;
    `index.fusion` names a file with others.
    """

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the weighted sum of the signals, scaled to 0..1 over the memories."""
        return self.best(self.store.ranking(query.text, "fusion")), {}
