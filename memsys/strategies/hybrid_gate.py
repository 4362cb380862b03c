"""Graph expansion behind a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memsys.graph.gate import Gate, spans_domains
from memsys.index.rank import Start
from memsys.llm.prompt import load_prompt
from memsys.store import Parts
from memsys.strategies.graph_expand import GraphExpand
from memsys.types import Candidate, Query


class HybridGate(GraphExpand):
    """graph_expand if the gate opens, else the start ranking (vector_only by default)."""

    def __init__(
        self,
        parts: Parts,
        k: int,
        budget: int | None,
        start: Start,
        expansion: Mapping[str, Any],
        gate: Mapping[str, Any],
    ) -> None:
        """Raises InputError on an unknown start, a wrong number in `expansion`, or no prompt."""
        super().__init__(parts, k, budget, start, expansion)
        self._gate = Gate(**gate)
        if parts.llm is not None and self._gate.domains is not None:
            gate_prompt = load_prompt(self._gate.domains, ["question"])
            self.prompts = {**self.prompts, "gate": gate_prompt}

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank candidates; the trace names the rule that decided."""
        cosines = self.store.ranking(query.text, "vector")
        relevance = self.store.ranking(query.text, self._start, cosines)
        similarities = [cosines.of(row) for row, _ in relevance.best(self._expansion.seeds)]
        decision = self._gate.decide(
            query.text, similarities, self.parts.embedder.typical_similarity
        )
        llm, prompt = self.parts.llm, self.prompts.get("gate")
        if not decision.open and llm and prompt and spans_domains(query.text, llm, prompt):
            decision = replace(decision, open=True, rule="domains")
        gate = {
            "open": decision.open,
            "rule": decision.rule,
            "mean_similarity": decision.mean_similarity,
        }
        if not decision.open:
            return self.best(relevance), {"gate": gate, "expansion": []}
        candidates, trace = self.expanded(relevance)
        return candidates, {"gate": gate, **trace}
