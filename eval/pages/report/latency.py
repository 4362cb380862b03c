"""Distributions of the time that questions took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eval.pages.report.runs import ReportedRun, looks_of
from eval.records.schema import Record
from eval.rendering.blocks import Block, Chart, Part, Table
from eval.rendering.charts import curves
from eval.rendering.numbers import number, share
from eval.rendering.palette import Look

_PHASES = ("retrieve", "answer", "total")
_DRAWN = ("retrieve", "total")
_PERCENTS = (5, 25, 50, 75, 95, 99, 100)
_COLUMNS = (*(f"p{percent}" for percent in _PERCENTS[:-1]), "max")
_POINTS = 60  # of a curve


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
    parts.append(Table(["run", "phase", "n", *_COLUMNS, "recorded", "waited"], rows))
    parts.append(
        "Milliseconds per answered question, all types. Retrieval includes embedding the query; "
        "the judge is excluded. recorded: share of questions with a call that was replayed from "
        "the cache and counts at its recorded latency. waited: share of questions that waited for "
        "a queue, a rate limit or a failed attempt, which no latency includes."
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
    recorded = sum(record["latency_source"] == "recorded" for record in answered)
    waited = sum(any(record["waited_ms"].values()) for record in answered)
    return [share(count / len(answered), 0) for count in (recorded, waited)]


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
