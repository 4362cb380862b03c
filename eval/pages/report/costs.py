"""Tokens and dollars of questions and ingestion, the break-even of ingestion, latencies, and scores
against what they cost.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import cast

import numpy as np

from eval.analyse.cost.__main__ import INGESTION, ingestion_table
from eval.metrics.stats.interval import Interval
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
from eval.rendering.blocks import Block, Chart, Part, Table
from eval.rendering.charts import ChartPoint, curves, scatter
from eval.rendering.numbers import dollars, interval, number, questions, share
from eval.rendering.palette import Look
from eval.rendering.plots import pareto
from eval.rendering.tables import interval_of
from eval.summary.sample import Sample

_FIELDS = ("calls", "input_tokens", "output_tokens")
_UNKNOWN = "unknown"
_PHASES = ("retrieve", "answer", "total")
_DRAWN = ("retrieve", "total")
_PERCENTS = (5, 25, 50, 75, 95, 99, 100)
_COLUMNS = ("n", *(f"p{percent}" for percent in _PERCENTS[:-1]), "max")
_POINTS = 60  # of a curve


def costs_block(runs: Sequence[ReportedRun]) -> Block:
    """Return dollars, usage and ingestion of each run, and break-even between runs."""
    if not any(record["usage"] is not None for run in runs for record in run.records.values()):
        return Block("costs", "Costs", ["Unknown: no record has calls or tokens."])
    spent = [spending(run) for run in runs]
    dates = {price_dates(run) for run in runs} - {""}
    source = f"List prices as of {', '.join(sorted(dates))}" if dates else "No price list was used"
    parts: list[Part] = [
        Table(
            [
                *("run", "n", "$ for 1,000 questions", "ingestion $ a conversation"),
                "$ for 1,000 verdicts (types 1-4)",
            ],
            [_dollars(run, of_run) for run, of_run in zip(runs, spent, strict=True)],
        ),
        f"{source}. Replayed calls count at their recorded cost; the cost of a judge is not part "
        "of a system's cost; an unknown cost is not 0.",
    ]
    if usage := [row for run in runs for row in _usage(run)]:
        header = ["run", "phase", "n", "calls per question", "input tokens", "output tokens"]
        parts += ["Model calls and tokens, as reported by the endpoints:", Table(header, usage)]
    else:
        parts.append("No model was called for any question.")
    parts.append("Cost of ingestion beside the scores. " + INGESTION)
    parts.append(ingestion_table([(run, run.overall) for run in runs]))
    if len(runs) > 1:
        parts += _break_even(runs, spent)
    return Block("costs", "Costs", parts)


def _dollars(run: ReportedRun, spent: Spending) -> list[str]:
    pricing, records = pricing_of(run.manifest), list(run.records.values())
    costs = [of_records([record], SYSTEM, pricing) for record in records]
    count = sum(cost is not None for cost in costs)
    complete = count == len(costs)
    mean = Sample.of(records, costs, run.seed).mean(0.0) if complete else None
    judge = run.overall["judge_cost_usd"]
    verdicts = dollars(None if judge is None else 1000 * judge, _UNKNOWN)
    return [
        run.label,
        f"{len(costs):,}" + ("" if complete else f" ({count:,} known)"),
        interval(mean, 4, lambda value, digits: number(1000 * value, digits), _UNKNOWN),
        dollars(spent.conversation.usd, _UNKNOWN),
        verdicts if run.judged else "no judge",
    ]


def _usage(run: ReportedRun) -> list[list[str]]:
    rows = []
    records = [record for record in run.records.values() if record["usage"]]
    for phase in PHASES:
        usages = [(record["usage"] or {}).get(phase) or {} for record in records]
        if any(usage.get("calls") for usage in usages):
            amounts = ([float(cast(int, use.get(field, 0))) for use in usages] for field in _FIELDS)
            means = (Sample.of(records, values, run.seed).mean(0.0) for values in amounts)
            rows.append([run.label, phase, f"{len(records):,}", *(interval(m, 1) for m in means)])
    return rows


def _break_even(runs: Sequence[ReportedRun], spent: Sequence[Spending]) -> list[Part]:
    """Return the break-even of each run against each run whose ingestion was free."""
    costs = {
        run.label: (of_run.conversation.usd, of_run.question.usd)
        for run, of_run in zip(runs, spent, strict=True)
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
    none = "Ingestion was free in all of these runs" if free else "No run ingested for free"
    return [f"{none}, so there is no break-even."]


def latency_block(runs: Sequence[ReportedRun]) -> Block:
    """Return percentiles by run and phase, and cumulative curves of retrieval and total."""
    answered = {
        run.label: [record for record in run.records.values() if record["status"] == "ok"]
        for run in runs
    }
    times: dict[str, dict[str, list[float]]] = {phase: {} for phase in _PHASES}
    for phase, label in product(_PHASES, answered):
        values = [record["latency_ms"].get(phase) for record in answered[label]]
        if live := [value for value in values if isinstance(value, float | int)]:
            times[phase][label] = live
    totals = times["total"]
    if not totals:
        return Block("latency", "Latency", ["Unknown: no record has a latency."])
    looks = [look for look in looks_of(runs) if look.name in totals]
    parts: list[Part] = [
        _chart(looks, times[phase], phase)
        for phase in _DRAWN
        if totals.keys() <= times[phase].keys()
    ]
    rows = []
    for label in totals:
        sources = Counter(record["latency_source"] for record in answered[label])
        waited = sum(any(record["waited_ms"].values()) for record in answered[label])
        counts = [*(sources[source] for source in ("recorded", "shared", "vectors")), waited]
        shares = [share(count / len(answered[label]), 0) for count in counts]
        of_run = [(phase, times[phase][label]) for phase in _PHASES if label in times[phase]]
        rows += [[label, phase, *_percentiles(spent), *shares] for phase, spent in of_run]
    parts.append(
        Table(["run", "phase", *_COLUMNS, "recorded", "shared", "vectors", "waited"], rows)
    )
    parts.append(
        "Milliseconds per answered question, all types. Retrieval includes embedding the query; "
        "the judge is excluded. recorded: share of questions with a call that was replayed from "
        "the cache and counts at its recorded latency. shared: share of the others that took an "
        "index or a graph over from an earlier job of the sweep, at the time that making it took. "
        "vectors: share of the rest whose vectors came from the cache, at the time that they "
        "took. waited: share of questions that waited "
        "for a queue, a rate limit or a failed attempt, which no latency includes."
    )
    return Block("latency", "Latency", parts)


def _percentiles(values: Sequence[float]) -> list[str]:
    """Return the number of values, and percentiles by linear interpolation between order
    statistics, as in the summary.
    """
    return [f"{len(values):,}", *(number(value, 1) for value in np.percentile(values, _PERCENTS))]


def _chart(looks: Sequence[Look], times: Mapping[str, Sequence[float]], phase: str) -> Chart:
    shares = np.linspace(0.005, 0.995, _POINTS)
    series = []
    for look in looks:
        quantiles = np.maximum(np.quantile(times[look.name], shares), 0.01)
        series.append(list(zip(quantiles.tolist(), shares.tolist(), strict=True)))
    title = f"Share of questions answered within a time: {phase}"
    svg = curves(title, series, looks, ("ms (log scale)", "share of questions"))
    rows = [[look.name, *_percentiles(times[look.name])] for look in looks]
    return Chart(title, svg, Table(["run", *_COLUMNS], rows), looks)


_AGAINST = (("context_tokens_mean", "context tokens", 0), ("total_ms_p95", "p95 latency, ms", 1))


def tradeoffs_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return scores against context tokens and p95 latency; None with one run, or no answers."""
    if len(runs) < 2 or not any(run.has_answers for run in runs):
        return None
    scores = [("f1", "F1")] + ([("judge", "judge")] if all(run.judged for run in runs) else [])
    parts = [
        part for score in scores for cost in _AGAINST for part in _tradeoff_chart(runs, score, cost)
    ]
    seeing = [run.label for run in runs if run.sees_evidence]
    if not parts:
        parts = ["Fewer than two runs have both a score and a known context size or latency."]
    else:
        parts.append(
            "A run is on the front if no other run here scores more at the same cost or the same "
            "at a lower cost. The front compares means alone; the differences above show whether "
            "two runs differ. Latency is a percentile of single questions and has no interval."
            + f" Not on the front, since given the evidence: {', '.join(seeing)}."
            * bool(seeing)
        )
    return Block("tradeoffs", "Accuracy against context and latency", parts)


def _tradeoff_chart(
    runs: Sequence[ReportedRun], score: tuple[str, str], cost: tuple[str, str, int]
) -> list[Part]:
    column, across, digits = cost
    drawn_runs: list[tuple[ReportedRun, Look, Interval, Interval]] = []
    for run, look in zip(runs, looks_of(runs), strict=True):
        x, y = (interval_of(run.overall, name) for name in (column, score[0]))
        if x is not None and y is not None:
            drawn_runs.append((run, look, x, y))
    if len(drawn_runs) < 2:
        return []
    fair = [(x.value, y.value) for run, _, x, y in drawn_runs if not run.sees_evidence]
    front = {place for place, on in zip(fair, pareto(fair), strict=True) if on}
    points, lines = [], []
    for run, look, x, y in drawn_runs:
        on = not run.sees_evidence and (x.value, y.value) in front
        points.append(ChartPoint(look, x, y, on))
        cost_text = number(x.value, digits) if x.low == x.high else interval(x, digits)
        place = "sees the evidence" if run.sees_evidence else "yes" if on else "no"
        lines.append([run.label, str(y.n), interval(y), cost_text, place])
    caption = f"{score[1]} against {across}, types 1-4"
    table = Table(["run", "n answered", score[1], across, "on the front"], lines)
    svg = scatter(caption, points, (across, score[1]))
    parts: list[Part] = [Chart(caption, svg, table, [look for _, look, _, _ in drawn_runs])]
    names = {run.label for run, *_ in drawn_runs}
    if missing := [run.label for run in runs if run.label not in names]:
        parts.append(f"Not in this chart: {', '.join(missing)} (unknown).")
    return parts
