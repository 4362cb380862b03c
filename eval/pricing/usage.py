"""What a run used and cost, by phase, from its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.pricing.prices import PHASES, cost_usd, pricing_of, repaid_after
from eval.records.run import Run
from eval.records.schema import Manifest
from memsys.llm.pricing import Pricing

_INGEST = "ingest"
_FULL_CONTEXT = "full_context"


@dataclass(frozen=True, slots=True)
class Phase:
    """Calls, tokens (as the endpoints count) and US dollars of one phase; None: not known."""

    calls: int | None
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None


@dataclass(frozen=True, slots=True)
class Spending:
    """A run's phases: ingest (which includes building indexes), retrieve, answer, judge."""

    name: str
    manifest: Manifest
    phases: Mapping[str, Phase]
    asked: tuple[str, ...]  # ids of questions
    conversations: int
    replayed: int  # questions with an answer that was recorded before

    @property
    def title(self) -> str:
        """What was run on what."""
        strategy, dataset = self.manifest["strategy"], self.manifest["dataset"]
        return f"{self.name}: {strategy} on {dataset}"

    @property
    def about(self) -> str:
        """How much of it there is, which models were called, and whose prices these are."""
        models = self.manifest["models"]
        chat = self.manifest["llm"]
        who = f"reader {models.get('reader') or 'unknown'}"
        who += f" ({chat})" if chat else ", no language model"
        judge = self.manifest["judge"]
        judged = f", judge {judge['name']}" if judge else ", no judge"
        told = [f"questions {len(self.asked):,}, conversations {self.conversations}, {who}{judged}"]
        as_of = pricing_of(self.manifest).as_of
        if all(phase.calls == 0 for phase in self.phases.values()):
            told.append("keyless: no model with a price was called")
        elif all(phase.usd == 0 for phase in self.phases.values()):
            told.append("the price of its models is 0, as on your own machine")
        else:
            told.append(f"prices as of {as_of}" if as_of else "no prices in its manifest")
        if self.replayed:
            told.append(f"{self.replayed:,} questions used recorded answers")
        if self.manifest["status"] != "complete":
            told.append(f"the run is {self.manifest['status']}: so far")
        return "; ".join(told)

    @property
    def is_full_context(self) -> bool:
        """Whether the others are measured by it."""
        return bool(self.manifest["strategy"] == _FULL_CONTEXT)

    @property
    def question_usd(self) -> float | None:
        """Dollars of retrieval and answer, a question."""
        return _over(
            _sum(self.phases[name].usd for name in ("retrieve", "answer")), len(self.asked)
        )

    @property
    def judge_question_usd(self) -> float | None:
        """Dollars of the judge, a question."""
        return _over(self.phases["judge"].usd, len(self.asked))

    @property
    def ingest_usd(self) -> float | None:
        """Dollars of remembering, a conversation."""
        return _over(self.phases[_INGEST].usd, self.conversations)

    @property
    def system_usd(self) -> float | None:
        """Dollars of all but the judge."""
        return _sum(self.phases[name].usd for name in (_INGEST, "retrieve", "answer"))

    def per_question(self, field: str) -> float | None:
        """Mean of retrieval's and answer's `field` (calls, input_tokens, output_tokens)."""
        both = (getattr(self.phases[name], field) for name in ("retrieve", "answer"))
        return _over(_sum(both), len(self.asked))

    def repaid_against(self, other: Spending) -> float | None:
        """See costs.repaid_after; None where a cost is unknown."""
        return repaid_after(self.ingest_usd, self.question_usd, other.question_usd)


def spending(run: Run) -> Spending:
    """Sum usage and dollars of a run, finished or not, by phase."""
    pricing, records = pricing_of(run.manifest), list(run.records.values())
    usages: dict[str, list[Mapping[str, Any] | None]] = {
        phase: [None if (used := r["usage"]) is None else used.get(phase, {}) for r in records]
        for phase in PHASES
    }
    lines = run.ingests
    ingests = [line["usage"] for line in lines] if lines else [None]  # not known without lines
    phases = {_INGEST: _phase(ingests, pricing)}
    phases |= {phase: _phase(used, pricing) for phase, used in usages.items()}
    replayed = sum(record["latency_source"] == "recorded" for record in records)
    conversations = len({record["conversation"] for record in records})
    return Spending(run.label, run.manifest, phases, tuple(run.records), conversations, replayed)


def baseline_of(run: Spending, runs: Sequence[Spending]) -> Spending | None:
    """The first full_context run among `runs` on the same data and questions by the same models."""
    return next((one for one in runs if one.is_full_context and _comparable(one, run)), None)


def _comparable(one: Spending, other: Spending) -> bool:
    def models(run: Spending) -> object:
        manifest = run.manifest
        return manifest["data"], manifest["llm"], manifest["models"], manifest["prompts"]

    return set(one.asked) == set(other.asked) and models(one) == models(other)


def _phase(usages: Sequence[Mapping[str, Any] | None], pricing: Pricing) -> Phase:
    known = [usage for usage in usages if usage is not None]
    if len(known) < len(usages):
        return Phase(None, None, None, None)
    calls, read, written = (
        sum(usage.get(field, 0) for usage in known)
        for field in ("calls", "input_tokens", "output_tokens")
    )
    return Phase(calls, read, written, cost_usd(known, pricing))


def _sum(values: Iterable[float | None]) -> float | None:
    """None if one is not known."""
    all_ = list(values)
    known = [value for value in all_ if value is not None]
    return sum(known) if len(known) == len(all_) else None


def _over(value: float | None, count: int) -> float | None:
    return value / count if value is not None and count else None
