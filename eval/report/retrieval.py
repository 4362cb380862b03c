"""Retrieval: recall against the cutoff, and measures of the recorded rankings by question type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.metrics.retrieval.registry import CUTOFFS, parse
from eval.records.run import Run
from eval.rendering.blocks import Block, Chart, Fold, Part, Table
from eval.rendering.numbers import interval
from eval.rendering.svg import trends
from eval.rendering.tables import type_name
from eval.report.runs import ReportedRun
from eval.stats.interval import Interval
from eval.summary.retrieval import by_type, unknown
from eval.summary.summarise import OVERALL

_SHOWN = (
    *("recall@10", "recall_any@10", "recall_all@10", "ndcg@10", "mrr", "store_share@10"),
    "session_recall_any@5",
)
_SELECTED = ("recall", "recall_any", "recall_all", "store_share")  # of memories without an order
_ByType = Mapping[str, Mapping[str, Interval]]


@dataclass(frozen=True, slots=True)
class _Measured:
    """Measures of a run's rankings that are known, and the reason for each that is not."""

    run: ReportedRun
    selected: bool
    by_type: _ByType
    unknown: Sequence[str]


def retrieval_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the recall curves and tables of all runs with rankings; None where no run has any.

    Runs without rankings, or that only select memories, are named.
    """
    if not any(run.rankings for run in runs):
        return None
    found = [_measured(run) for run in runs if run.rankings]
    parts: list[Part] = [*_curves(runs, found), *_tables(found)]
    if selecting := [one.run.label for one in found if one.selected]:
        parts.append(
            f"Only select memories and do not rank them: {', '.join(selecting)}. Their recall is "
            "that of everything selected; measures with a cutoff or an order do not apply."
        )
    if without := [run.label for run in runs if not run.rankings]:
        parts.append(f"No rankings are recorded: {', '.join(without)}.")
    parts += [f"{reason}." for one in found for reason in one.unknown]
    parts.append(
        "Recall of evidence turns: recall is their share among the first k turns; any and all are "
        "the shares of questions with at least one and with every evidence turn there. share of "
        "the store: what part of all turns the cutoff is. docs/retrieval.md defines each measure."
    )
    return Block("retrieval", "Retrieval", parts)


def _measured(run: ReportedRun) -> _Measured:
    """Return the measures of `run`; those that its rankings do not determine are left out."""
    selected = all(ranked.selected for ranked in run.rankings.values())
    names = _SELECTED if selected else (*_SHOWN, *(f"recall@{cutoff}" for cutoff in CUTOFFS))
    measures = [parse(name) for name in dict.fromkeys(names)]
    reasons = unknown(run, measures)
    known = [measure for measure in measures if str(measure) not in reasons]
    means = by_type(run, known, run.seed)
    return _Measured(run, selected, means, list(dict.fromkeys(reasons.values())))


def _curves(runs: Sequence[Run], found: Sequence[_Measured]) -> list[Part]:
    """Return a chart of recall against the cutoff, types 1 to 4; [] where no run has a curve."""
    measured = {one.run.label: one.by_type.get(OVERALL, {}) for one in found if not one.selected}
    series = [
        [
            (float(cutoff), value)
            for cutoff in CUTOFFS
            if (value := measured.get(run.label, {}).get(f"recall@{cutoff}")) is not None
        ]
        for run in runs
    ]
    if not any(series):
        return []
    rows = [
        [
            run.label,
            f"{points[0][1].n:,}",
            *(interval(dict(points).get(float(cutoff))) for cutoff in CUTOFFS),
        ]
        for run, points in zip(runs, series, strict=True)
        if points
    ]
    caption = "Recall of evidence turns against the cutoff, types 1-4, 95% interval"
    svg = trends(caption, series, ("turns (log scale)", "recall"))
    legend = [run.label if points else None for run, points in zip(runs, series, strict=True)]
    table = Table(["run", "n", *(f"recall@{cutoff}" for cutoff in CUTOFFS)], rows)
    return [Chart(caption, svg, table, legend)]


def _tables(found: Sequence[_Measured]) -> list[Part]:
    """Return the table of types 1 to 4 by run, then all types of each run; one table of one run."""
    if len(found) == 1:
        return _types(found[0])
    parts: list[Part] = []
    for names in (_SHOWN, _SELECTED):
        rows = [
            [one.run.label, *_cells(one.by_type.get(OVERALL, {}), names)]
            for one in found
            if one.selected == (names is _SELECTED) and one.by_type.get(OVERALL)
        ]
        if rows:
            parts.append(Table(["run", "n", *_titles(names)], rows))
    folds = {f"{one.run.label}: retrieval by type": _types(one) for one in found}
    return [*parts, *(Fold(title, tables) for title, tables in folds.items() if tables)]


def _types(one: _Measured) -> list[Part]:
    """Return the table of all question types; [] where no measure is known."""
    names = _SELECTED if one.selected else _SHOWN
    rows = [
        [type_name(type_), *_cells(values, names)]
        for type_, values in one.by_type.items()
        if values
    ]
    return [Table(["type", "n", *_titles(names)], rows)] if rows else []


def _titles(names: Sequence[str]) -> list[str]:
    return [parse(name).title for name in names]


def _cells(values: Mapping[str, Interval], names: Sequence[str]) -> list[str]:
    counts = dict.fromkeys(f"{values[name].n:,}" for name in names if name in values)
    return ["/".join(counts) or "0", *(interval(values.get(name)) for name in names)]
