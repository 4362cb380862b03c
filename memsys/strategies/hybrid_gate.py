"""Graph expansion that is applied only if a gate opens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from memsys.core.declared import Count, Threshold, Word, check_fields
from memsys.core.terms import is_cjk, words
from memsys.core.types import Candidate, Query
from memsys.index.rank import Start
from memsys.llm.base import LLM
from memsys.llm.prompt import Prompt, load_prompt
from memsys.llm.reply import json_reply
from memsys.strategies.graph_expand import GraphExpand
from memsys.strategies.store import Parts


class HybridGate(GraphExpand):
    """Expands like graph_expand if the gate opens, else returns the start ranking (by default
    vectors), rescored if asked for. Without `use_graph_expansion` it ranks like graph_score.
    """

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        start: Start,
        expansion: Mapping[str, Any],
        gate: Mapping[str, Any],
        **scoring: Any,
    ) -> None:
        """`scoring`: see GraphExpand. Raises InputError like it, and without the gate's prompt."""
        super().__init__(parts, k, budget, start, expansion, **scoring)
        self._gate = Gate(**gate)
        if self._expands and parts.llm is not None and self._gate.domains is not None:
            gate_prompt = load_prompt(self._gate.domains, ["question"])
            self.prompts = {**self.prompts, "gate": gate_prompt}

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank candidates; the trace names the rule that decided."""
        if not self._expands:
            return super().rank(query)
        cosines = self.store.ranking(query.text, "vector")
        ranking = self.store.ranking(query.text, self._start, cosines)
        rows, seeds = self.store.rows, self.best(ranking, self._expansion.seeds)
        similarities = [cosines.of(rows[seed.memory.id]) for seed in seeds]
        embedder = self.parts.embedder
        typical = embedder.typical_by_language.get(self.store.language, embedder.typical_similarity)
        decision = self._gate.decide(query.text, similarities, typical)
        llm, prompt = self.parts.llm, self.prompts.get("gate")
        if not decision.open and llm and prompt and spans_domains(query.text, llm, prompt):
            decision = decision._replace(open=True, rule="domains")
        if decision.open:
            candidates, relations, trace = self.expanded(query, ranking)
        else:
            candidates, relations, trace = self.best(ranking)[: self.k], [], {"expansion": []}
        trace = {"gate": decision._asdict(), **trace}
        return self.completed(query, ranking, candidates, relations, trace)


class Decision(NamedTuple):
    """Whether the gate opened, and by which rule: word:<word>, similarity, domains, or closed."""

    open: bool
    rule: str
    mean_similarity: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Opens on an association word or when the mean similarity of the direct results is low.

    `similarity`: mean cosine from which the direct results are trusted; None takes the embedder's
    typical value, since cosines of different models are on different scales. English words and
    phrases match whole words, Chinese ones any part of the text. `domains`: prompt to ask a model
    if the other rules leave the gate closed; None: never ask.
    """

    english: Sequence[Word]
    chinese: Sequence[Word]
    similarity: Threshold | None
    domains: str | None = None

    def __post_init__(self) -> None:
        """Raise InputError on a value of a wrong type."""
        check_fields(self, "strategy.gate")

    def decide(self, query: str, similarities: Sequence[float], typical: float) -> Decision:
        """Return the decision for `query`, given the cosines of its direct results."""
        mean = fmean(similarities) if similarities else 0.0
        present = f" {' '.join(words(query))} "
        hits = [word for word in self.english if f" {word} " in present]
        hits += [word for word in self.chinese if is_cjk(query) and word in query]
        if hits:
            return Decision(True, f"word:{hits[0]}", mean)
        threshold = typical if self.similarity is None else self.similarity
        if mean < threshold:
            return Decision(True, "similarity", mean)
        return Decision(False, "closed", mean)


def spans_domains(query: str, llm: LLM, prompt: Prompt) -> bool:
    """Return whether `llm` finds several domains in `query`. Raises LLMError without an answer."""
    request = prompt.fill(question=query)
    return bool(json_reply(llm, request, {"several": {"type": "boolean"}})["several"])
