"""Comparisons of several runs: paired differences to the first, and accuracy against its cost."""

from __future__ import annotations

from collections.abc import Sequence

from eval.analyse.compare.comparable import objections
from eval.analyse.compare.conclusions import notes, title
from eval.metrics.stats.interval import Interval
from eval.metrics.stats.pareto import pareto
from eval.pages.report.runs import ReportedRun, interval_of, looks_of
from eval.rendering.blocks import Block, Chart, Part, Table
from eval.rendering.charts import ChartPoint, dots, scatter
from eval.rendering.contrasts import brief, method, table
from eval.rendering.numbers import interval, number
from eval.rendering.tables import type_name
from eval.summary.contrast import Row, contrast
from eval.summary.measures import choose, types_of
from eval.summary.shared import share
from memsys.core.errors import InputError

_COSTS = (
    ("context_tokens_mean", "context tokens", 0),
    ("total_ms_p95", "p95 latency, ms", 1),
)


def differences_block(runs: Sequence[ReportedRun]) -> tuple[Block | None, list[str]]:
    """Return the section of differences to the first run and its conclusions as short sentences.

    With one run, the result is None and []. If runs cannot be compared, the section states the
    reason.
    """
    if len(runs) < 2:
        return None, []
    heading = f"Differences to {runs[0].label}"
    try:
        measures = choose(runs, (), None)
    except InputError as error:
        return Block("differences", heading, [f"Not compared: {error}."]), []
    if reasons := objections(runs, measures, ()):
        return Block("differences", heading, [f"Not compared: {one}." for one in reasons]), []
    scores = [(measure, share(runs, measure)) for measure in measures]
    tables = contrast(scores, runs[0].seed)
    shown = [(title(m), rows) for m, rows in zip(measures, tables, strict=True) if rows]
    if not shown:
        return Block("differences", heading, ["No question has a score in every run."]), []
    parts: list[Part] = [_forest(name, rows, runs) for name, rows in shown]
    for name, rows in shown:
        parts += [f"{name}:", Table(*table(rows, runs))]
    parts.append(method(tables, runs))
    parts += [f"Note: {note}." for note in notes(runs, scores)]
    return Block("differences", heading, parts), brief(tables, runs)


def tradeoffs_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return scores against context tokens and p95 latency; None with one run, or no answers."""
    if len(runs) < 2 or not any(run.has_answers for run in runs):
        return None
    scores = [("f1", "F1")] + ([("judge", "judge")] if all(run.judged for run in runs) else [])
    parts = [
        part for score in scores for cost in _COSTS for part in _tradeoff_chart(runs, score, cost)
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


def _forest(name: str, rows: Sequence[Row], runs: Sequence[ReportedRun]) -> Chart:
    types = types_of(runs)
    drawn = [
        (
            f"{type_name(row.type, types)}, n = {row.n}",
            [None, *(one.difference for one in row.contrasts)],
        )
        for row in rows
    ]
    caption = f"{name}: difference to {runs[0].label}"
    looks = looks_of(runs)
    svg = dots(caption, drawn, looks, "difference")
    return Chart(caption, svg, Table(*table(rows, runs)), looks[1:])


def _tradeoff_chart(
    runs: Sequence[ReportedRun], score: tuple[str, str], cost: tuple[str, str, int]
) -> list[Part]:
    column, across, digits = cost
    known: list[tuple[ReportedRun, Interval, Interval]] = []
    for run in runs:
        x, y = run.overall[column], interval_of(run.overall, score[0])
        if x is not None and y is not None:
            exact = f"{column}_ci" not in run.overall
            at = Interval(x, x, x) if exact else interval_of(run.overall, column)
            known.append((run, at or Interval(x, x, x), y))
    if len(known) < 2:
        return []
    fair = [(x.value, y.value) for run, x, y in known if not run.sees_evidence]
    front = {place for place, on in zip(fair, pareto(fair), strict=True) if on}
    looks = dict(zip([run.label for run in runs], looks_of(runs), strict=True))
    points = [
        ChartPoint(looks[run.label], x, y, not run.sees_evidence and (x.value, y.value) in front)
        for run, x, y in known
    ]
    lines = [
        [
            *(point.look.name, str(point.y.n), interval(point.y)),
            number(point.x.value, digits)
            if point.x.low == point.x.high
            else interval(point.x, digits),
            "sees the evidence" if run.sees_evidence else "yes" if point.front else "no",
        ]
        for (run, _, _), point in zip(known, points, strict=True)
    ]
    caption = f"{score[1]} against {across}, types 1-4"
    alternative = Table(["run", "n answered", score[1], across, "on the front"], lines)
    shown = [point.look for point in points]
    parts: list[Part] = [
        Chart(caption, scatter(caption, points, (across, score[1])), alternative, shown)
    ]
    names = {look.name for look in shown}
    if missing := [run.label for run in runs if run.label not in names]:
        parts.append(f"Not in this chart: {', '.join(missing)} (unknown).")
    return parts
