"""What accuracy costs in context and in time: the runs as points, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence

from eval.rendering.blocks import Block, Chart, Part
from eval.rendering.section import Table
from eval.rendering.svg import Interval, Point, scatter
from eval.report.outcome import interval_of
from eval.report.runs import Reported
from eval.summary.summarise import OVERALL

_ACROSS = (
    ("context_tokens_mean", "context tokens", 0),
    ("total_ms_p95", "p95 latency, ms", 1),
)


def tradeoffs(runs: Sequence[Reported]) -> Block | None:
    """F1, and the judge's score where all have it, against tokens and p95; None with one run."""
    if len(runs) < 2:
        return None
    scores = [("f1", "F1")] + ([("judge", "judge")] if all(run.judged for run in runs) else [])
    parts: list[Part] = []
    for score, name in scores:
        for column, across, digits in _ACROSS:
            parts += _chart(runs, (score, name), (column, across, digits))
    if not parts:
        parts = ["Fewer than two runs have a score and tell their context tokens or latency."]
    else:
        parts.append(
            "On the front: no other run here scores more for as little, or as much for less. It "
            "goes by the means alone; whether two runs differ is told under the differences. "
            "Latency is a percentile of single questions and has no interval."
        )
    return Block("tradeoffs", "Accuracy against context and latency", parts)


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Which points (cost, gain) no other beats: as much gain for less, or more for as much cost."""
    return [
        not any(
            cost <= own_cost and gain >= own_gain and (cost, gain) != (own_cost, own_gain)
            for cost, gain in points
        )
        for own_cost, own_gain in points
    ]


def _chart(runs: Sequence[Reported], of: tuple[str, str], by: tuple[str, str, int]) -> list[Part]:
    (score, name), (column, across, digits) = of, by
    known: list[tuple[Reported, Interval, Interval]] = []
    missing = []
    for run in runs:
        cell = run.summary["by_type"][OVERALL]
        y, cost = interval_of(cell, score), cell[column]
        if y is None or cost is None:
            missing.append(run.label)
            continue
        x = interval_of(cell, column) if f"{column}_ci" in cell else None
        known.append((run, x or Interval(cost, cost, cost), y))
    if len(known) < 2:
        return []
    front = pareto([(x.value, y.value) for _, x, y in known])
    points = [Point(run.label, x, y, on) for (run, x, y), on in zip(known, front, strict=True)]
    lines = []
    for (run, x, y), on in zip(known, front, strict=True):
        cell = run.summary["by_type"][OVERALL]
        told = f"{x.value:,.{digits}f}"
        if x.low != x.high:
            told += f" [{x.low:,.{digits}f}, {x.high:,.{digits}f}]"
        n = str(cell["n"] - cell["errors"])
        lines.append([run.label, n, str(y), told, "yes" if on else "no"])
    title = f"{name} against {across}, types 1-4"
    table = Table(["run", "n answered", name, across, "on the front"], lines)
    chart = Chart(title, scatter(title, points, (across, name)), table, [p.name for p in points])
    return [chart, *([f"Not in it: {', '.join(missing)} (not known)."] if missing else [])]
