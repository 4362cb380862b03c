"""Tokens and dollars: of questions and of remembering, and when remembering has paid for itself."""

from __future__ import annotations

from collections.abc import Sequence

from eval.cost import tables as cost_tables
from eval.pricing.prices import SYSTEM, break_even, cost_usd, of_records, pricing_of
from eval.records.schema import Record
from eval.rendering.blocks import Block, Part
from eval.rendering.intervals import Sample, show
from eval.rendering.section import Table
from eval.report.runs import Reported
from eval.summary.summarise import OVERALL

_PHASES = ("retrieve", "answer", "judge")
_FIELDS = ("calls", "input_tokens", "output_tokens")


def money(runs: Sequence[Reported]) -> Block:
    """Usage and dollars by run, and the questions after which each run's ingest is repaid."""
    parts: list[Part] = [Table(*_dollars(runs)), _prices(runs)]
    usage = [row for run in runs for row in _usage(run)]
    if usage:
        parts.append("Calls of models and their tokens, as the endpoints report them:")
        header = ["run", "phase", "n", "calls per question", "input tokens", "output tokens"]
        parts.append(Table(header, usage))
    else:
        parts.append("No model was called for any question.")
    parts += [
        "Cost of ingestion beside the scores. " + cost_tables.INGESTION,
        Table(*cost_tables.ingestion_table([(r.run, r.summary["by_type"][OVERALL]) for r in runs])),
    ]
    if len(runs) > 1:
        parts += _repaid(runs)
    return Block("costs", "Costs", parts)


def question_usd(run: Reported) -> list[tuple[Record, float | None]]:
    """US dollars of each question, failed ones included; None where it is not known."""
    pricing = pricing_of(run.manifest)
    return [(record, of_records([record], SYSTEM, pricing)) for record in run.records.values()]


def ingest_usd(run: Reported) -> float | None:
    """US dollars of remembering one conversation, the mean; None where it is not known."""
    lines = run.run.ingests
    conversations = {line["conversation"] for line in lines}
    total = cost_usd((line["usage"] for line in lines), pricing_of(run.manifest))
    return None if total is None or not conversations else total / len(conversations)


def _mean_usd(run: Reported) -> float | None:
    values = [usd for _, usd in question_usd(run)]
    if any(value is None for value in values):
        return None
    return sum(value for value in values if value is not None) / len(values)


def _dollars(runs: Sequence[Reported]) -> tuple[list[str], list[list[str]]]:
    rows = []
    for run in runs:
        pairs = question_usd(run)
        known = _mean_usd(run) is not None
        found = Sample.of([r for r, _ in pairs], [usd for _, usd in pairs], run.run.seed).mean()
        judge = run.summary["by_type"]["overall"]["judge_cost_usd"]
        n = sum(usd is not None for _, usd in pairs)
        rows.append(
            [
                run.label,
                f"{len(pairs):,}" + ("" if known else f" ({n:,} known)"),
                show(found, 1000, 4) if known else "not known",
                _usd(ingest_usd(run)),
                "no judge" if not run.judged else _usd(None if judge is None else judge * 1000),
            ]
        )
    header = ["run", "n", "$ for 1,000 questions", "$ to remember a conversation"]
    return [*header, "$ for 1,000 verdicts (types 1-4)"], rows


def _usd(value: float | None) -> str:
    return "not known" if value is None else f"{value:,.4f}"


def _prices(runs: Sequence[Reported]) -> str:
    dates = {pricing_of(run.manifest).as_of for run in runs} - {""}
    told = f"List prices as of {', '.join(sorted(dates))}" if dates else "No price list was used"
    return (
        f"{told}. What is replayed counts at what it cost when it was live; the judge is never "
        "part of a system's cost, and a cost that is not known is not 0."
    )


def _usage(run: Reported) -> list[list[str]]:
    rows = []
    records = [record for record in run.records.values() if record["usage"]]
    for phase in _PHASES:
        own = [(record["usage"] or {}).get(phase) or {} for record in records]
        if not any(usage.get("calls") for usage in own):
            continue
        cells = []
        for field in _FIELDS:
            values = [float(usage.get(field, 0)) for usage in own]
            cells.append(show(Sample.of(records, values, run.run.seed).mean(), digits=1))
        rows.append([run.label, phase, f"{len(records):,}", *cells])
    return rows


def _repaid(runs: Sequence[Reported]) -> list[Part]:
    """Each run against each that cost nothing to remember with."""
    costs = {run.label: (ingest_usd(run), _mean_usd(run)) for run in runs}
    free = [label for label, (ingest, _) in costs.items() if ingest == 0]
    rows = [
        [label, other, _questions(break_even(ingest, each, costs[other][1]))]
        for label, (ingest, each) in costs.items()
        for other in free
        if other != label and (ingest is None or ingest > 0)
    ]
    if rows:
        header = ["run", "against", "questions of a conversation until repaid"]
        return ["When remembering has paid for itself:", Table(header, rows)]
    if not free:
        return ["No run remembers for nothing, so there is no break-even to reckon."]
    return ["Remembering cost nothing in any of these runs, so there is nothing to be repaid."]


def _questions(after: float | None) -> str:
    if after is None:
        return "not known"
    return "never" if after == float("inf") else f"{after:,.0f}"
