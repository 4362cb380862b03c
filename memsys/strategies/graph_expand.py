"""Graph expansion: adds memories one or two hops from the direct results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.graph.expand import Expansion, expand
from memsys.index.rank import Ranking, Start, check_start
from memsys.store import Parts
from memsys.strategy import Strategy
from memsys.types import Candidate, Query


class GraphExpand(Strategy):
    """The k best of the start ranking and their graph neighbours, rescored together, cut to k.

    A direct result scores its relevance, an added one `edge_weight` * edge + `relevance_weight` *
    relevance: at equal k an added memory must push a direct one out.
    """

    uses_graph: ClassVar[bool] = True

    def __init__(
        self, parts: Parts, k: int, budget: int | None, start: Start, expansion: Mapping[str, Any]
    ) -> None:
        """Raises InputError on an unknown start or a wrong number in `expansion`."""
        super().__init__(parts, k, budget)
        check_start(start)
        self._start = start
        self._expansion = Expansion(**expansion)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank direct and expanded candidates; the trace has the paths followed."""
        return self.expanded(self.store.ranking(query.text, self._start))

    def expanded(self, relevance: Ranking) -> tuple[list[Candidate], dict[str, Any]]:
        """Return direct and expanded candidates, best first, and the trace."""
        k = self.k or len(self.store.memories)
        direct = self.best(relevance)
        rows = self.store.rows

        def relevance_of(memory: str) -> float:
            return relevance.of(rows[memory])

        seeds = [candidate.memory.id for candidate in direct[: self._expansion.seeds]]
        added = expand(self.store.graph, seeds, relevance_of, self._expansion)
        found = {candidate.memory.id: candidate for candidate in direct}
        retained = direct
        if self._expansion.reserved:
            retained = direct[: max(k - self._expansion.reserved, 0)]
        present = {*seeds, *(candidate.memory.id for candidate in retained)}
        extra = [
            found.get(one.memory)
            or Candidate(self.store.memories[rows[one.memory]], one.score, "expanded")
            for one in added
            if one.memory not in present
        ]
        trace = {
            "expansion": [
                {"memory": one.memory, "seed": one.seed, "via": one.via, "score": one.score}
                for one in added
            ]
        }
        if self._expansion.reserved:
            extra = [*extra[: self._expansion.reserved], *direct[len(retained) :]]
            extra = list(dict.fromkeys(extra))[: max(k - len(retained), 0)]
        return sorted(retained + extra, key=lambda candidate: -candidate.score), trace
