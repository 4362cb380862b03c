"""Graph expansion: adds to the direct results the memories that the graph connects to them."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal

from memsys.context.writers import dated
from memsys.core.declared import Count, Weight, check_values
from memsys.core.errors import refuse
from memsys.core.types import Candidate, Memory, Query
from memsys.graph.expansion import Expansion, expand, rounded
from memsys.index.rank import Ranking, Start
from memsys.knowledge.relations.written_graph import WrittenByModel, WrittenGraph
from memsys.llm.base import needed_model
from memsys.llm.prompt import Prompt, load_prompt
from memsys.llm.reply import json_reply
from memsys.strategies.graph_score import GraphScore
from memsys.strategies.store import Parts

JUDGE_PLACES = ("question", "notes")  # places that the prompt of the judge must have


class GraphExpand(GraphScore):
    """The k best of the start ranking and their graph neighbours, scored together, cut to k.

    A direct result scores its relevance, an added one `edge_weight` * edge + `relevance_weight` *
    relevance: at equal k an added memory has to displace a direct one. `rescore`: memory_score
    orders both by the memory score of graph_score instead. Without `use_graph_expansion` it ranks
    like graph_score. Below these candidates the start ranking continues; Strategy.retrieve takes
    the k best of all.
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
        has_relations = isinstance(parts.graph, WrittenByModel | WrittenGraph)
        has_none = self._expansion.relations and (parts.owner_filter or not has_relations)
        reserved = self._expansion.reserved
        faults = {
            "strategy.expansion.relations: takes a graph with relations, and a store of one owner; "
            "add graph=relations llm=openai, or use 0": has_none,
            f"strategy.expansion.reserved: {reserved}; use at most k={k}": k is not None
            and reserved > k,
        }
        refuse(faults)
        self._judge: Prompt | None = None
        if use_graph_expansion and self._expansion.judge is not None:
            needed_model(parts.llm, "strategy.expansion.judge=llm", "judge neighbours")
            self._judge = load_prompt(self._expansion.judge_prompt, JUDGE_PLACES)
            self.prompts = {**self.prompts, "expansion_judge": self._judge}

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank direct and expanded candidates; the trace has the paths followed."""
        if not self._expands:
            return super().rank(query)
        ranking = self.store.ranking(query.text, self._start)
        candidates, relations, trace = self.expanded(query, ranking)
        return self.completed(query, ranking, candidates, relations, trace)

    def completed(
        self,
        query: Query,
        ranking: Ranking,
        candidates: Sequence[Candidate],
        relations: Sequence[Candidate],
        trace: Mapping[str, Any],
    ) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Return what `rank` does: `candidates`, rescored by the memory score if asked for, below
        them the rest of `ranking`, and `relations`; and the trace.
        """
        if self._rescore:
            candidates, terms = self.rescored(candidates, ranking.of, query.time)
            trace = {**trace, **terms}
        return [*self.continued(candidates, ranking), *relations], trace

    def expanded(
        self, query: Query, ranking: Ranking
    ) -> tuple[list[Candidate], list[Candidate], dict[str, Any]]:
        """Return direct and expanded candidates, the relations of the entities that were followed,
        both best first, and the trace.
        """
        k, reserved = self.k or len(self.store.memories), self._expansion.reserved
        direct, rows = self.best(ranking, k), self.store.rows

        def relevance_of(memory: str) -> float:
            row = rows[memory]
            return ranking.of(row) if self.visible(row) else -inf  # below any threshold

        seeds = [candidate.memory.id for candidate in direct[: self._expansion.seeds]]
        added, entities = expand(self.store.graph, seeds, relevance_of, self._expansion)
        direct_by_id = {candidate.memory.id: candidate for candidate in direct}
        retained = direct[: max(k - reserved, 0)]
        present = {*seeds, *(candidate.memory.id for candidate in retained)}
        extra = [
            direct_by_id.get(expanded.memory_id)
            or Candidate(self.store.memories[rows[expanded.memory_id]], expanded.score, "expanded")
            for expanded in added
            if expanded.memory_id not in present
        ]
        verdicts = self._verdicts(
            query, [candidate.memory for candidate in extra if candidate.origin == "expanded"]
        )
        extra = [candidate for candidate in extra if verdicts.get(candidate.memory.id, True)]
        relations, relation_traces = self._relations_of(query, entities)
        trace: dict[str, Any] = {
            "expansion": [
                expanded.traced()
                | (
                    {"relevant": verdicts[expanded.memory_id]}
                    if expanded.memory_id in verdicts
                    else {}
                )
                for expanded in added
            ]
        }
        if relation_traces:
            trace["relations"] = {"found": relation_traces}
        if reserved:
            extra = [*extra[:reserved], *direct[len(retained) :]]
            extra = list(dict.fromkeys(extra))[: max(k - len(retained), 0)]
        candidates = sorted(retained + extra, key=lambda candidate: -candidate.score)
        return candidates, relations, trace

    def _relations_of(
        self, query: Query, entities: Sequence[str]
    ) -> tuple[list[Candidate], list[dict[str, Any]]]:
        """Return the best relations of `entities`, at most as many as are set, and their traces."""
        settings, by_entity = self._expansion, self.store.graph.statements
        named = entities if settings.relations else ()
        statements = {
            statement.memory.id: statement
            for name in named
            for statement in by_entity.get(name, ())
        }
        if not statements:
            return [], []
        embedder = self.parts.embedder
        vectors = embedder.documents(
            [statement.memory.content for statement in statements.values()]
        )
        cosines = (vectors @ embedder.query(query.text)).tolist()
        rated = [
            (statement, settings.score(statement.weight, cosine), cosine)
            for statement, cosine in zip(statements.values(), cosines, strict=True)
            if cosine >= settings.threshold
        ]
        rated.sort(key=lambda rating: (-rating[1], rating[0].memory.id))
        best = rated[: settings.relations]
        traces = [
            {
                "relation": statement.memory.id,
                **rounded({"edge": statement.weight, "relevance": cosine, "score": score}),
            }
            for statement, score, cosine in best
        ]
        relations = [
            Candidate(statement.memory, score, "expanded", True) for statement, score, _ in best
        ]
        return relations, traces

    def _verdicts(self, query: Query, memories: Sequence[Memory]) -> Mapping[str, bool]:
        """Return by id whether the judge finds each of `memories` relevant, by one call; nothing
        without a judge or a memory. Raises LLMError without a usable reply.
        """
        llm = self.parts.llm
        if self._judge is None or llm is None or not memories:
            return {}
        number = {"type": "integer", "enum": list(range(1, len(memories) + 1))}
        rows = {"type": "array", "items": number}
        notes = [
            f"{n}. {dated(' '.join(memory.content.split()), memory.time).rstrip()}"
            for n, memory in enumerate(memories, 1)
        ]
        asked = self._judge.fill(question=query.text, notes="\n".join(notes))
        numbers = {int(n) for n in json_reply(llm, asked, {"relevant": rows})["relevant"]}
        return {memory.id: n in numbers for n, memory in enumerate(memories, 1)}
