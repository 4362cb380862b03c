"""What came out: the headline, and the scores by question type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.rendering.blocks import Block, Chart, Fold, Part
from eval.rendering.run_tables import run_tables
from eval.rendering.section import Table
from eval.rendering.svg import Interval, dots
from eval.rendering.tables import by_run, type_name
from eval.report.runs import Reported
from eval.summary.subset_score import sentences
from eval.summary.summarise import OVERALL

Cell = Mapping[str, Any]
_SCORES = (("f1", "F1"), ("judge", "judge"), ("evidence_recall", "evidence recall"))


def headline(runs: Sequence[Reported], found: Sequence[str]) -> Block:
    """What was `found` in sentences, one table of all runs, and what to beware of."""
    parts: list[Part] = [_sentence(runs[0]), *found]
    parts += [f"{run.label} on {told}" for run in runs for told in sentences(run.summary)]
    parts.append(Table(*by_run([(run.label, run.summary) for run in runs])))
    parts.append(
        "Types 1-4 but where another type is named. In brackets: 95% intervals over conversations. "
        "Questions that failed are counted and in no mean."
    )
    parts += [
        f"Warning, {run.label}: {warning}" for run in runs for warning in run.summary["warnings"]
    ]
    return Block("headline", "Headline", parts)


def types(runs: Sequence[Reported]) -> Block:
    """Every score by question type: charts of all runs, then a table for each run."""
    parts: list[Part] = []
    for column, name in _SCORES:
        if any(run.summary["by_type"][OVERALL][column] is not None for run in runs):
            parts.append(_chart(runs, column, name))
    parts.append(
        "LoCoMo's F1 of the adversarial type is the official phrase match; abstention stands in "
        "the headline and under the losses."
    )
    if len(runs) == 1:
        parts += list(run_tables(runs[0].summary))
    else:
        parts += [
            Fold(f"{run.label}: every score by type", list(run_tables(run.summary))) for run in runs
        ]
    return Block("types", "Scores by question type", parts)


def interval_of(cell: Cell, column: str) -> Interval | None:
    """A mean of a summary's cell with its interval; None if it is not known."""
    if cell[column] is None:
        return None
    return Interval(cell[column], *cell[f"{column}_ci"])


def _sentence(run: Reported) -> str:
    overall, adversarial = (run.summary["by_type"][name] for name in (OVERALL, "adversarial"))
    told = [
        f"{name} {found}"
        for column, name in _SCORES
        if (found := interval_of(overall, column)) is not None
    ]
    if (tokens := interval_of(overall, "context_tokens_mean")) is not None:
        told.append(f"context tokens {tokens.value:,.0f} [{tokens.low:,.0f}, {tokens.high:,.0f}]")
    answered = overall["n"] - overall["errors"]
    sentence = (
        f"{run.label} on {run.summary['dataset']}: {', '.join(told) or 'no score'}, mean of the "
        f"{answered:,} answered of {overall['n']:,} questions of types 1-4"
    )
    if (right := interval_of(adversarial, "abstained")) is not None:
        of = adversarial["n"] - adversarial["errors"]
        sentence += (
            f"; abstained on {right.value:.1%} [{right.low:.1%}, {right.high:.1%}] of {of:,} of "
            "type 5"
        )
    return f"{sentence}."


def _chart(runs: Sequence[Reported], column: str, name: str) -> Chart:
    cells = {
        type_: [run.summary["by_type"][type_] for run in runs]
        for type_ in runs[0].summary["by_type"]
    }
    rows = [
        (type_name(type_), own, [interval_of(cell, column) for cell in own])
        for type_, own in cells.items()
    ]
    shown = [row for row in rows if any(value is not None for value in row[2])]
    lines = [
        [type_, run.label, str(cell["n"] - cell["errors"]), "-" if value is None else str(value)]
        for type_, own, values in shown
        for run, cell, value in zip(runs, own, values, strict=True)
    ]
    caption = f"{name} by question type, 95% interval"
    svg = dots(caption, [(type_, values) for type_, _, values in shown], (name, "run"))
    alternative = Table(["type", "run", "n answered", name], lines)
    drawn = [any(own) for own in zip(*(values for *_, values in shown), strict=True)]
    legend = [run.label if there else None for run, there in zip(runs, drawn, strict=True)]
    return Chart(caption, svg, alternative, legend)
