"""How long questions took: the whole distribution, not a mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eval.records.schema import Record
from eval.rendering.blocks import Block, Chart, Part
from eval.rendering.section import Table
from eval.rendering.svg import curves
from eval.report.runs import Reported

_PHASES = ("retrieve", "answer", "total")
_DRAWN = ("retrieve", "total")
_PERCENTS = (5, 25, 50, 75, 95, 99, 100)
_POINTS = 60  # of a curve


def latencies(runs: Sequence[Reported]) -> Block:
    """Percentiles by run and phase, and the cumulative distributions of retrieval and total."""
    title = "Latency"
    known = [run for run in runs if _values(run, "total")]
    if not known:
        return Block("latency", title, ["Not known: no record tells how long it took."])
    parts: list[Part] = [
        _chart(known, phase) for phase in _DRAWN if all(_values(run, phase) for run in known)
    ]
    rows = [
        [run.label, phase, f"{len(values):,}", *_percentiles(values), *_sources(run)]
        for run in known
        for phase in _PHASES
        if (values := _values(run, phase))
    ]
    header = ["run", "phase", "n", *(f"p{percent}" for percent in _PERCENTS[:-1]), "max"]
    parts.append(Table([*header, "recorded", "waited"], rows))
    parts.append(
        "Milliseconds of a question that was answered, all types; retrieval includes embedding the "
        "query, the judge is left out. recorded: share of the questions with a call that came from "
        "the cache and counts at the time it took when it was live. waited: share that waited for "
        "a place, a rate limit or a failed attempt, which is in no latency."
    )
    return Block("latency", title, parts)


def _answered(run: Reported) -> list[Record]:
    return [record for record in run.records.values() if record["status"] == "ok"]


def _values(run: Reported, phase: str) -> list[float]:
    found = ((record.get("latency_ms") or {}).get(phase) for record in _answered(run))
    return [value for value in found if value is not None]


def _percentiles(values: Sequence[float]) -> list[str]:
    """Linear interpolation between order statistics, as in the summary."""
    return [f"{value:,.1f}" for value in np.percentile(values, _PERCENTS)]


def _sources(run: Reported) -> list[str]:
    answered = _answered(run)
    recorded = sum(record.get("latency_source") == "recorded" for record in answered)
    waited = sum(any((record.get("waited_ms") or {}).values()) for record in answered)
    return [f"{count / len(answered):.0%}" for count in (recorded, waited)]


def _chart(runs: Sequence[Reported], phase: str) -> Chart:
    shares = np.linspace(0.005, 0.995, _POINTS)
    series = [
        [
            (max(float(value), 0.01), float(share))
            for value, share in zip(np.quantile(_values(run, phase), shares), shares, strict=True)
        ]
        for run in runs
    ]
    title = f"Share of questions within a time: {phase}"
    rows = [
        [run.label, f"{len(values):,}", *_percentiles(values)]
        for run in runs
        if (values := _values(run, phase))
    ]
    header = ["run", "n", *(f"p{percent}" for percent in _PERCENTS[:-1]), "max"]
    svg = curves(title, series, ("ms (log scale)", "share of questions"))
    return Chart(title, svg, Table(header, rows), [run.label for run in runs])
