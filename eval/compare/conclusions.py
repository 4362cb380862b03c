"""Conclusions and warnings of a comparison as plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from eval.records.run import Run
from eval.records.schema import Manifest
from eval.rendering.numbers import p_value, signed
from eval.summary.contrast import Contrast, Row
from eval.summary.measures import ABSTAINED, ADVERSARIAL, JUDGE, Measure, lower_is_better
from eval.summary.shared import Shared
from eval.summary.summarise import OVERALL

_SHOWN = 3  # question ids in a sentence


def conclusions(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> list[str]:
    """Return a sentence per run after the first and per measure, on overall if it is there, else
    the last type.

    Abstention is reported only if nothing else was compared.
    """
    scored = [rows for rows in tables if rows and rows[0].key != ABSTAINED]
    reported = scored or [rows for rows in tables if rows]
    return [
        _conclusion(next((row for row in rows if row.type == OVERALL), rows[-1]), i, runs)
        for i in range(len(runs) - 1)
        for rows in reported
    ]


def title(measure: Measure) -> str:
    """Return the title of a measure's table."""
    if measure.key != ABSTAINED:
        return measure.key
    if ADVERSARIAL not in measure.types:
        return f"{ABSTAINED}: false refusals (lower is better)"
    elsewhere = ", a false refusal elsewhere" if len(measure.types) > 1 else ""
    return f"{ABSTAINED}: right on {ADVERSARIAL}{elsewhere}"


def method(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> str:
    """Return one paragraph on how differences, p and `needs` were computed."""
    count = sum(len(row.contrasts) for rows in tables for row in rows)
    adjusted = f"Holm's over the {count} comparisons shown" if count > 1 else "one comparison"
    return (
        f"Difference: run minus {runs[0].label} on the same questions, 95% interval over "
        f"conversations. p: sign-flip test, {adjusted}. needs: the least true difference found 4 "
        "times in 5. docs/statistics.md explains them."
    )


def notes(runs: Sequence[Run], measures: Sequence[tuple[Measure, Shared]]) -> list[str]:
    """Return warnings: settings in which runs differ, unfinished runs, questions left out."""
    found = []
    first = runs[0]
    for run in runs[1:]:
        imported = [one.label for one in (first, run) if one.manifest.get("kind") == "imported"]
        if not imported and (settings := _differing(first.manifest, run.manifest)):
            found.append(f"{run.label} differs from {first.label} in: {', '.join(settings)}")
    for run in runs:
        if run.manifest.get("kind") == "imported":
            found.append(f"{run.label}: imported answers, of unknown settings")
        if run.manifest["status"] != "complete":
            found.append(f"{run.label}: the run is {run.manifest['status']}, not complete")
    for measure, shared in measures:
        if shared.left_out:
            found.append(_left_out(measure, shared))
    if any(measure.key == JUDGE for measure, _ in measures) and _reported(runs):
        found.append("judge: verdicts as reported; that one judge gave them all is unverified")
    if any(len(set(shared.conversations)) == 1 for _, shared in measures):
        found.append(
            "one conversation: intervals cover other questions on it, not other conversations"
        )
    return found


def _left_out(measure: Measure, shared: Shared) -> str:
    ids = ", ".join(shared.left_out[:_SHOWN]) + (", ..." if len(shared.left_out) > _SHOWN else "")
    why = "; ".join(
        f"{label}: " + ", ".join(f"{count} {reason}" for reason, count in counts.items())
        for label, counts in shared.why.items()
    )
    return (
        f"{measure.key}: {len(shared.left_out)} questions do not count, {len(shared.ids)} do "
        f"({why}): {ids}"
    )


def _reported(runs: Sequence[Run]) -> bool:
    return any(
        record.get("judge_source") is not None for run in runs for record in run.records.values()
    )


def _conclusion(row: Row, index: int, runs: Sequence[Run]) -> str:
    first, run, one = runs[0].label, runs[index + 1].label, row.contrasts[index]
    where = "types 1-4" if row.type == OVERALL else row.type
    interval, p = one.difference, f"p = {p_value(one.p_holm)}".replace("= <", "<")
    refusals = lower_is_better(row.key, row.type)
    score = "false refusals" if refusals else row.key
    if one.verdict == "no difference shown":
        start = f"No difference shown between {run} and {first} on {where}"
    else:
        start = f"{run} is {one.verdict} than {first} on {where}"
    return (
        f"{start}: {score} {signed(interval.value)} (95% interval {signed(interval.low)} to "
        f"{signed(interval.high)}, {p}; {row.n} questions of {row.clusters} "
        f"conversation{'s' if row.clusters > 1 else ''}); {_needed(one)}"
    )


def _needed(one: Contrast) -> str:
    if one.needed == 0:
        return "all scores are equal."
    if one.verdict == "no difference shown":
        return (
            f"a true difference of at least {one.needed:.3f} would have been needed to be found "
            "4 times in 5."
        )
    return f"a true difference of {one.needed:.3f} would have been enough to be found 4 times in 5."


def _differing(one: Manifest, other: Manifest) -> list[str]:
    """Return the top-level settings (`strategy`, `k`, ...) in which two configurations differ."""
    first, second = one["config"], other["config"]
    return [key for key in {**first, **second} if first.get(key) != second.get(key)]
