"""Prices, usage and dollars of the calls of a run, and the ledger of those that it has paid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from eval.records.files import LineWriter, read_lines
from eval.records.run import Run
from eval.records.schema import Manifest, Record, UsageEntry, store_of
from memsys.core.types import Usage
from memsys.llm.meter import total_usage
from memsys.llm.pricing import Price, Pricing

PAID = "paid.jsonl"  # {"model": ..., "calls": 1, "input_tokens": ..., "output_tokens": ...}


class PaidCalls:
    """Ledger of the run in a folder, for memsys.llm.budget.CallLedger, which locks it; it also adds
    up what this process pays. Calls of a model without a price are counted in tokens, never as $0.
    """

    def __init__(self, folder: Path) -> None:
        """Nothing is written, and `folder` need not exist, before the first live call."""
        self._folder = folder
        self._writer: LineWriter | None = None
        self._added: dict[str, Usage] = {}  # by model

    @property
    def added(self) -> bool:
        """Whether this process has paid for a call."""
        return bool(self._added)

    def rows(self) -> Iterator[tuple[str, Usage]]:
        """Yield model and usage of each paid call; raises InputError on a damaged file."""
        for row in read_lines(self._folder / PAID, torn=True):
            counts = {name: count for name, count in row.items() if name != "model"}
            yield row["model"], Usage(**counts)

    def note(self, model: str, usage: Usage) -> None:
        """Append the line of one call and flush it."""
        if self._writer is None:
            self._writer = LineWriter(self._folder / PAID)
        self._writer.write({"model": model, **asdict(usage)})
        self._added[model] = total_usage([self._added.get(model, Usage()), usage])

    def spent(self, pricing: Pricing) -> str:
        """Return dollars, and the tokens of models without a price; '' before the first call."""
        used = [(pricing.cost_usd(name, use), use) for name, use in [*self._added.items()]]
        costs = [cost for cost, _ in used if cost is not None]
        tokens = sum(use.input_tokens + use.output_tokens for cost, use in used if cost is None)
        parts = [f"${sum(costs):,.4f}"] if costs else []
        if tokens:
            parts.append(f"{tokens:,} tokens without a price")
        return " + ".join(parts)


PHASES = ("retrieve", "answer", "judge")  # of a question; ingestion is per conversation
SYSTEM = ("retrieve", "answer")  # a judge's cost is never the system's


def pricing_of(manifest: Manifest) -> Pricing:
    """Return the prices in a run's manifest; none if it contains none."""
    listed = manifest["pricing"] or {"models": {}}
    dated = {"as_of": listed.get("as_of", "")}  # of all prices, in manifests of earlier versions
    return Pricing({name: Price(**{**dated, **row}) for name, row in listed["models"].items()})


def described(pricing: Pricing) -> dict[str, Any]:
    """Return the field `pricing` of a manifest, which pricing_of reads."""
    return {
        "as_of": pricing.as_of,
        "models": {name: asdict(price) for name, price in pricing.prices.items()},
    }


def cost_usd(usages: Iterable[Mapping[str, Any] | None], pricing: Pricing) -> float | None:
    """Return the US dollars of recorded usages, replayed calls at the cost of the live ones.

    None, which is not 0, if a usage is unknown (imported answers), a model has no price, or an
    endpoint reported no tokens. Phases without a named model cost nothing.
    """
    total = 0.0
    for usage in usages:
        if usage is None:
            return None
        for model, counts in usage.get("by_model", {}).items():
            used = Usage(**counts)
            cost = pricing.cost_usd(model, used)
            if cost is None or (used.calls and not used.input_tokens and not _free(model, pricing)):
                return None
            total += cost
    return total


def _free(model: str, pricing: Pricing) -> bool:
    price = pricing.price(model)
    return price is not None and not price.input and not price.output


def of_records(records: Iterable[Record], phases: Iterable[str], pricing: Pricing) -> float | None:
    """Return the US dollars of these phases of the records; None as in cost_usd."""
    wanted = tuple(phases)
    return cost_usd((_used(record, phase) for record in records for phase in wanted), pricing)


def _used(record: Record, phase: str) -> UsageEntry | None:
    used = record["usage"]
    return None if used is None else used.get(phase, {})


def break_even(
    ingest_usd: float | None, question_usd: float | None, other_question_usd: float | None
) -> float | None:
    """Return the number of questions of a conversation from which a system costs less than another
    one without ingestion: ingestion / (the other's cost of a question - its own).

    0 if ingestion is free and questions cost no more; infinity if questions cost no less; None if
    a cost is unknown.
    """
    if ingest_usd is None or question_usd is None or other_question_usd is None:
        return None
    saved = other_question_usd - question_usd
    if saved <= 0:
        return 0.0 if ingest_usd == 0 and saved == 0 else float("inf")
    return ingest_usd / saved


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
    usages |= {phase: [_used(record, phase) for record in records] for phase in PHASES}
    return Spending(run, {phase: _summed(used, pricing) for phase, used in usages.items()})


def price_dates(run: Run) -> str:
    """Return the dates of the prices of the models that `run` called, as in Pricing.as_of."""
    usages = [line["usage"] for line in run.ingests]
    usages += [_used(record, phase) for record in run.records.values() for phase in PHASES]
    used = {model for usage in usages if usage for model in usage.get("by_model", {})}
    return pricing_of(run.manifest).of(used).as_of


def full_context_of(run: Spending, runs: Sequence[Spending]) -> Spending | None:
    """Return the first full_context run among `runs` on the same data and questions by the same
    models.
    """
    return next(
        (
            other
            for other in runs
            if other.run.strategy == FULL_CONTEXT
            and set(other.run.records) == set(run.run.records)
            and all(
                other.run.manifest.get(field) == run.run.manifest.get(field)
                for field in ("data", "llm", "models", "prompts")
            )
        ),
        None,
    )


def each(value: float | None, count: int | None) -> float | None:
    """Return the mean of a total over `count`; None if either is unknown or the count is 0."""
    return value / count if value is not None and count else None


def _summed(usages: Sequence[Mapping[str, Any] | None], pricing: Pricing) -> PhaseUsage:
    counts = [usage for usage in usages if usage is not None]
    if len(counts) < len(usages):
        return PhaseUsage(None, None, None, None)
    calls, read, written = (
        sum(usage.get(field, 0) for usage in counts)
        for field in ("calls", "input_tokens", "output_tokens")
    )
    return PhaseUsage(calls, read, written, cost_usd(counts, pricing))
