"""Graph expansion: adds to the direct results the memories that the graph connects to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal

from memsys.core.declared import Count, Weight, check_values
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query
from memsys.graph.expansion import Expansion, expand, rounded
from memsys.index.rank import Ranking, Start
from memsys.knowledge.relations.written_graph import WrittenByModel, WrittenGraph
from memsys.strategies.graph_score import GraphScore
from memsys.strategies.neighbour_judge import NeighbourJudge
from memsys.strategies.store import Parts


class GraphExpand(GraphScore):
    """The k best of the start ranking and their graph neighbours, scored together, cut to k.

    A direct result scores its relevance, an added one `edge_weight` * edge + `relevance_weight` *
    relevance: at equal k an added memory has to displace a direct one. `rescore`: memory_score
    orders both by the memory score of graph_score instead. Without `use_graph_expansion` it ranks
    like graph_score. Below these candidates the start ranking continues.
    """

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        start: Start,
        expansion: Mapping[str, Any],
        pool: Count,
        weights: Mapping[str, float],
        decay_per_day: Weight,
        rescore: Literal["memory_score"] | None = None,
        use_graph_expansion: bool = True,
    ) -> None:
        """`pool`, `weights` and `decay_per_day`: see GraphScore; `pool` counts only without
        `use_graph_expansion`. Raises InputError on an unknown start, a wrong number in `expansion`,
        or without a model to judge, if one is to.
        """
        check_values(GraphExpand, locals(), "strategy")
        accepted = max(pool, k or 1) if use_graph_expansion else pool  # an unused pool is no error
        super().__init__(parts, k, budget, start, accepted, weights, decay_per_day)
        self._rescore, self._expands = rescore is not None, use_graph_expansion
        self._expansion = Expansion(**expansion)
        if self._expansion.relations:
            if not isinstance(parts.graph, WrittenByModel | WrittenGraph):
                raise InputError(
                    "strategy.expansion.relations: the graph has no relations to show; add "
                    "graph=relations llm=openai, or use 0"
                )
            if parts.owner_filter:
                raise InputError(
                    "strategy.expansion.relations: would show relations of other owners in a store "
                    "of several; use 0"
                )
        if k is not None and self._expansion.reserved > k:
            raise InputError(
                f"strategy.expansion.reserved: {self._expansion.reserved}; use at most k={k}"
            )
        self._judge: NeighbourJudge | None = None
        if use_graph_expansion and self._expansion.judge is not None:
            self._judge = NeighbourJudge(parts.llm, self._expansion.judge_prompt)
            self.prompts = {**self.prompts, "expansion_judge": self._judge.prompt}

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank direct and expanded candidates; the trace has the paths followed."""
        if not self._expands:
            return super().rank(query)
        relevance = self.store.ranking(query.text, self._start)
        candidates, stated, trace = self.expanded(query, relevance)
        finalised, trace = self.finalised(candidates, trace, relevance, query)
        return [*self.continued(finalised, relevance), *stated], trace

    def finalised(
        self,
        candidates: Sequence[Candidate],
        trace: Mapping[str, Any],
        relevance: Ranking,
        query: Query,
    ) -> tuple[Sequence[Candidate], dict[str, Any]]:
        """Return candidates, best first, and trace, rescored by the memory score if asked for."""
        if not self._rescore:
            return candidates, dict(trace)
        rescored, parts = self.rescored(candidates, relevance.of, query.time)
        return rescored, {**trace, **parts}

    def expanded(
        self, query: Query, relevance: Ranking
    ) -> tuple[list[Candidate], list[Candidate], dict[str, Any]]:
        """Return direct and expanded candidates, the relations of the entities that were followed,
        both best first, and the trace.
        """
        k = self.k or len(self.store.memories)
        direct = self.best(relevance, k)
        rows = self.store.rows

        def relevance_of(memory: str) -> float:
            row = rows[memory]
            return relevance.of(row) if self.visible(row) else -inf  # below any threshold

        seeds = [candidate.memory.id for candidate in direct[: self._expansion.seeds]]
        added, entities = expand(self.store.graph, seeds, relevance_of, self._expansion)
        direct_by_id = {candidate.memory.id: candidate for candidate in direct}
        retained = direct
        if self._expansion.reserved:
            retained = direct[: max(k - self._expansion.reserved, 0)]
        present = {*seeds, *(candidate.memory.id for candidate in retained)}
        extra = [
            direct_by_id.get(one.memory)
            or Candidate(self.store.memories[rows[one.memory]], one.score, "expanded")
            for one in added
            if one.memory not in present
        ]
        extra, verdicts = self._judged(query, extra)
        stated, found = self._stated(query, entities)
        trace = {
            "expansion": [
                one.traced()
                | ({"relevant": verdicts[one.memory]} if one.memory in verdicts else {})
                for one in added
            ],
            **({"relations": {"found": found}} if found else {}),
        }
        if self._expansion.reserved:
            extra = [*extra[: self._expansion.reserved], *direct[len(retained) :]]
            extra = list(dict.fromkeys(extra))[: max(k - len(retained), 0)]
        candidates = sorted(retained + extra, key=lambda candidate: -candidate.score)
        return candidates, stated, trace

    def _stated(
        self, query: Query, entities: Sequence[str]
    ) -> tuple[list[Candidate], list[dict[str, Any]]]:
        """Return the best relations of `entities`, at most as many as are set, and their traces."""
        settings, by_entity = self._expansion, self.store.graph.statements
        if not settings.relations:
            return [], []
        found = {one.memory.id: one for name in entities for one in by_entity.get(name, ())}
        if not found:
            return [], []
        embedder = self.parts.embedder
        vectors = embedder.documents([one.memory.content for one in found.values()])
        rated = [
            (one, settings.score(one.weight, cosine), cosine)
            for one, cosine in zip(
                found.values(), (vectors @ embedder.query(query.text)).tolist(), strict=True
            )
            if cosine >= settings.threshold
        ]
        best = sorted(rated, key=lambda one: (-one[1], one[0].memory.id))[: settings.relations]
        traces = [
            {
                "relation": one.memory.id,
                **rounded({"edge": one.weight, "relevance": cosine, "score": score}),
            }
            for one, score, cosine in best
        ]
        return [Candidate(one.memory, score, "expanded", True) for one, score, _ in best], traces

    def _judged(
        self, query: Query, extra: list[Candidate]
    ) -> tuple[list[Candidate], Mapping[str, bool]]:
        """Return `extra` without the expanded memories that the judge finds irrelevant, and its
        verdict on each by id; without a judge, all of them and no verdict.
        """
        if self._judge is None:
            return extra, {}
        asked = [one.memory for one in extra if one.origin == "expanded"]
        relevant = self._judge.relevant(query.text, asked)
        verdicts = {memory.id: memory.id in relevant for memory in asked}
        return [one for one in extra if verdicts.get(one.memory.id, True)], verdicts
