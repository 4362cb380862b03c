"""Tokens and dollars of questions and ingestion, the break-even of ingestion, and latencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from eval.analyse.cost import tables as cost_tables
from eval.pages.report.runs import ReportedRun, looks_of
from eval.records.prices import (
    PHASES,
    SYSTEM,
    Spending,
    break_even,
    of_records,
    price_dates,
    pricing_of,
    spending,
)
from eval.records.schema import Record
from eval.rendering.blocks import Block, Chart, Part, Table
from eval.rendering.charts import curves
from eval.rendering.numbers import dollars, interval, number, questions, share
from eval.rendering.palette import Look
from eval.summary.sample import Sample

_FIELDS = ("calls", "input_tokens", "output_tokens")
_UNKNOWN = "unknown"
_PHASES = ("retrieve", "answer", "total")
_DRAWN = ("retrieve", "total")
_PERCENTS = (5, 25, 50, 75, 95, 99, 100)
_COLUMNS = (*(f"p{percent}" for percent in _PERCENTS[:-1]), "max")
_POINTS = 60  # of a curve


def costs_block(runs: Sequence[ReportedRun]) -> Block:
    """Return dollars, usage and ingestion of each run, and break-even between runs."""
    if not any(record["usage"] is not None for run in runs for record in run.records.values()):
        return Block("costs", "Costs", ["Unknown: no record has calls or tokens."])
    spent = [spending(run) for run in runs]
    parts: list[Part] = [
        Table(
            [
                *("run", "n", "$ for 1,000 questions", "ingestion $ a conversation"),
                "$ for 1,000 verdicts (types 1-4)",
            ],
            [_dollars(run, one) for run, one in zip(runs, spent, strict=True)],
        ),
        _prices(runs),
    ]
    if usage := [row for run in runs for row in _usage(run)]:
        header = ["run", "phase", "n", "calls per question", "input tokens", "output tokens"]
        parts += ["Model calls and tokens, as reported by the endpoints:", Table(header, usage)]
    else:
        parts.append("No model was called for any question.")
    parts.append("Cost of ingestion beside the scores. " + cost_tables.INGESTION)
    parts.append(Table(*cost_tables.ingestion_table([(run, run.overall) for run in runs])))
    if len(runs) > 1:
        parts += _break_even(runs, spent)
    return Block("costs", "Costs", parts)


def _dollars(run: ReportedRun, spent: Spending) -> list[str]:
    pricing, records = pricing_of(run.manifest), list(run.records.values())
    costs = [of_records([record], SYSTEM, pricing) for record in records]
    known = sum(cost is not None for cost in costs)
    complete = known == len(costs)
    mean = Sample.of(records, costs, run.seed).mean(0.0) if complete else None
    judge = run.overall["judge_cost_usd"]
    verdicts = dollars(None if judge is None else 1000 * judge, _UNKNOWN)
    return [
        run.label,
        f"{len(costs):,}" + ("" if complete else f" ({known:,} known)"),
        interval(mean, 4, _per_thousand, _UNKNOWN),
        dollars(spent.conversation.usd, _UNKNOWN),
        verdicts if run.judged else "no judge",
    ]


def _per_thousand(value: float, digits: int) -> str:
    return number(1000 * value, digits)


def _prices(runs: Sequence[ReportedRun]) -> str:
    dates = {price_dates(run) for run in runs} - {""}
    source = f"List prices as of {', '.join(sorted(dates))}" if dates else "No price list was used"
    return (
        f"{source}. Replayed calls count at their recorded cost; the cost of a judge is not part "
        "of a system's cost; an unknown cost is not 0."
    )


def _usage(run: ReportedRun) -> list[list[str]]:
    rows = []
    records = [record for record in run.records.values() if record["usage"]]
    for phase in PHASES:
        usages = [(record["usage"] or {}).get(phase) or {} for record in records]
        if not any(usage.get("calls") for usage in usages):
            continue
        cells = []
        for field in _FIELDS:
            values = [float(cast(int, usage.get(field, 0))) for usage in usages]
            cells.append(interval(Sample.of(records, values, run.seed).mean(0.0), 1))
        rows.append([run.label, phase, f"{len(records):,}", *cells])
    return rows


def _break_even(runs: Sequence[ReportedRun], spent: Sequence[Spending]) -> list[Part]:
    """Return the break-even of each run against each run whose ingestion was free."""
    costs = {
        run.label: (one.conversation.usd, one.question.usd)
        for run, one in zip(runs, spent, strict=True)
    }
    free = [label for label, (ingest, _) in costs.items() if ingest == 0]
    rows = [
        [label, other, questions(break_even(ingest, question, costs[other][1]), 0, _UNKNOWN)]
        for label, (ingest, question) in costs.items()
        for other in free
        if other != label and ingest != 0
    ]
    if rows:
        header = ["run", "against", "break-even, questions of a conversation"]
        return ["Break-even against runs whose ingestion was free:", Table(header, rows)]
    if not free:
        return ["No run ingested for free, so there is no break-even."]
    return ["Ingestion was free in all of these runs, so there is no break-even."]


def latency_block(runs: Sequence[ReportedRun]) -> Block:
    """Return percentiles by run and phase, and cumulative curves of retrieval and total."""
    title = "Latency"
    known = [run for run in runs if _values(run, "total")]
    if not known:
        return Block("latency", title, ["Unknown: no record has a latency."])
    labels = {run.label for run in known}
    parts: list[Part] = [
        _chart(known, [look for look in looks_of(runs) if look.name in labels], phase)
        for phase in _DRAWN
        if all(_values(run, phase) for run in known)
    ]
    rows = [
        [run.label, phase, f"{len(values):,}", *_percentiles(values), *_sources(run)]
        for run in known
        for phase in _PHASES
        if (values := _values(run, phase))
    ]
    parts.append(Table(["run", "phase", "n", *_COLUMNS, "recorded", "vectors", "waited"], rows))
    parts.append(
        "Milliseconds per answered question, all types. Retrieval includes embedding the query; "
        "the judge is excluded. recorded: share of questions with a call that was replayed from "
        "the cache and counts at its recorded latency. vectors: share of the others whose vectors "
        "came from the cache, at the time that they took. waited: share of questions that waited "
        "for a queue, a rate limit or a failed attempt, which no latency includes."
    )
    return Block("latency", title, parts)


def _answered(run: ReportedRun) -> list[Record]:
    return [record for record in run.records.values() if record["status"] == "ok"]


def _values(run: ReportedRun, phase: str) -> list[float]:
    values = (record["latency_ms"].get(phase) for record in _answered(run))
    return [value for value in values if isinstance(value, float | int)]


def _percentiles(values: Sequence[float]) -> list[str]:
    """Return percentiles by linear interpolation between order statistics, as in the summary."""
    return [number(value, 1) for value in np.percentile(values, _PERCENTS)]


def _sources(run: ReportedRun) -> list[str]:
    answered = _answered(run)
    sources = [record["latency_source"] for record in answered]
    waited = sum(any(record["waited_ms"].values()) for record in answered)
    counts = (sources.count("recorded"), sources.count("vectors"), waited)
    return [share(count / len(answered), 0) for count in counts]


def _chart(runs: Sequence[ReportedRun], looks: Sequence[Look], phase: str) -> Chart:
    shares = np.linspace(0.005, 0.995, _POINTS)
    series, rows = [], []
    for run in runs:
        values = _values(run, phase)
        quantiles = np.maximum(np.quantile(values, shares), 0.01)
        series.append(list(zip(quantiles.tolist(), shares.tolist(), strict=True)))
        rows.append([run.label, f"{len(values):,}", *_percentiles(values)])
    title = f"Share of questions answered within a time: {phase}"
    svg = curves(title, series, looks, ("ms (log scale)", "share of questions"))
    return Chart(title, svg, Table(["run", "n", *_COLUMNS], rows), looks)
