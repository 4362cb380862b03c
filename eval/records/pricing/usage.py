"""Calls, tokens and dollars of a run by phase, from its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from eval.records.pricing.prices import PHASES, cost_usd, pricing_of
from eval.records.run import Run
from eval.records.schema import UsageEntry, store_of
from memsys.llm.pricing import Pricing

INGEST, FULL_CONTEXT = "ingest", "full_context"


@dataclass(frozen=True, slots=True)
class PhaseUsage:
    """Calls, tokens (as the endpoints count) and US dollars; None where unknown."""

    calls: float | None
    input_tokens: float | None
    output_tokens: float | None
    usd: float | None

    def __add__(self, other: PhaseUsage) -> PhaseUsage:
        """Return the sums; a sum is unknown if one of its summands is."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return PhaseUsage(*(None if a is None or b is None else a + b for a, b in pairs))

    def per(self, count: int | None) -> PhaseUsage:
        """Return the means over `count` items; unknown if there are none."""
        return PhaseUsage(*(each(value, count) for value in astuple(self)))


@dataclass(frozen=True, slots=True)
class Spending:
    """Usage of a run, finished or not, by phase: ingest (building indexes included), retrieve,
    answer and judge.
    """

    run: Run
    phases: Mapping[str, PhaseUsage]

    @property
    def conversations(self) -> int:
        """Number of conversations that were ingested for the questions; 1 if they are pooled."""
        return len({store_of(record) for record in self.run.records.values()})

    @property
    def system(self) -> PhaseUsage:
        """Sum of all phases but the judge."""
        return self.phases[INGEST] + self._questions

    @property
    def question(self) -> PhaseUsage:
        """Retrieval and answer of a question, the mean."""
        return self._questions.per(len(self.run.records))

    @property
    def conversation(self) -> PhaseUsage:
        """Ingestion of a conversation, the mean."""
        return self.phases[INGEST].per(self.conversations)

    @property
    def _questions(self) -> PhaseUsage:
        return self.phases["retrieve"] + self.phases["answer"]


def spending(run: Run) -> Spending:
    """Sum the usage of `run` by phase."""
    pricing, records = pricing_of(run.manifest), list(run.records.values())
    usages: dict[str, list[UsageEntry | None]] = {
        INGEST: [line["usage"] for line in run.ingests] or [None]  # unknown without lines
    }
    for phase in PHASES:
        usages[phase] = [
            None if (used := r["usage"]) is None else used.get(phase, {}) for r in records
        ]
    return Spending(run, {phase: _summed(used, pricing) for phase, used in usages.items()})


def price_dates(run: Run) -> str:
    """Return the dates of the prices of the models that `run` called, as in Pricing.as_of."""
    records = run.records.values()
    usages = [*(line["usage"] for line in run.ingests)]
    usages += [(record["usage"] or {}).get(phase, {}) for record in records for phase in PHASES]
    used = {model for usage in usages for model in usage.get("by_model", {})}
    return pricing_of(run.manifest).of(used).as_of


def full_context_of(run: Spending, runs: Sequence[Spending]) -> Spending | None:
    """Return the first full_context run among `runs` on the same data and questions by the same
    models.
    """
    return next(
        (
            one
            for one in runs
            if one.run.strategy == FULL_CONTEXT
            and set(one.run.records) == set(run.run.records)
            and all(
                one.run.manifest.get(field) == run.run.manifest.get(field)
                for field in ("data", "llm", "models", "prompts")
            )
        ),
        None,
    )


def each(value: float | None, count: int | None) -> float | None:
    """Return the mean of a total over `count`; None if either is unknown or the count is 0."""
    return value / count if value is not None and count else None


def _summed(usages: Sequence[Mapping[str, Any] | None], pricing: Pricing) -> PhaseUsage:
    known = [usage for usage in usages if usage is not None]
    if len(known) < len(usages):
        return PhaseUsage(None, None, None, None)
    calls, read, written = (
        sum(usage.get(field, 0) for usage in known)
        for field in ("calls", "input_tokens", "output_tokens")
    )
    return PhaseUsage(calls, read, written, cost_usd(known, pricing))
