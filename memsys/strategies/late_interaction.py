"""Late interaction: the best of a ranking, reordered by comparing single tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from memsys.core.declared import Count, Range, Share, check_values
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query
from memsys.index.rank import Start, min_max
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy


class LateInteraction(Strategy):
    """The `pool` best of the start ranking, reordered by MaxSim (see TokenIndex.max_sim), then cut
    to k. Below the pool the start ranking continues.

    The start ranking counts alone in a language that the embedder was not trained for, and where
    a fallback without token vectors embeds the conversation.

    Score: weight * MaxSim + (1 - weight) * relevance, both scaled to 0..1 within the pool.
    """

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        start: Start,
        pool: Count,
        weight: Share,
        idf: Annotated[float, Range(0, 10)],
    ) -> None:
        """`weight`: 0 to 1, where 1 is MaxSim alone. `idf`: exponent of the weights of query
        tokens. Raises InputError on an unknown start, a number out of range, a pool smaller than
        k, or an embedder without token vectors.
        """
        check_values(LateInteraction, locals(), "strategy")
        super().__init__(parts, k, budget)
        if pool < (k or 1):
            raise InputError(f"strategy.pool: {pool!r}; use a whole number of k={k} or more")
        if not parts.embedder.is_fallback:
            _ = parts.embedder.token_rows  # raises if there are none
        self._start, self._pool, self._weight, self._idf = start, pool, weight, idf

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank the pool by MaxSim and relevance; the trace says where there is no MaxSim."""
        relevance = self.store.ranking(query.text, self._start)
        if not (self.parts.embedder.has_tokens and self.store.understood):
            reason = "language" if self.parts.embedder.has_tokens else "no token vectors"
            return self.best(relevance), {"late_interaction": reason}
        pool = self.best(relevance, self._pool)
        if not pool:
            return [], {}
        rows = [self.store.rows[candidate.memory.id] for candidate in pool]
        late = min_max(self.store.max_sim(query.text, rows, self._idf))
        direct = min_max(np.array([candidate.score for candidate in pool]))
        scores = self._weight * late + (1 - self._weight) * direct
        mixed = [
            replace(candidate, score=float(s)) for candidate, s in zip(pool, scores, strict=True)
        ]
        mixed.sort(key=lambda candidate: -candidate.score)
        return self.continued(mixed, relevance), {}
