"""Contrasts of runs as rows of a table, as CSV and as sentences."""

from __future__ import annotations

import io
from collections.abc import Sequence

from eval.metrics.stats.interval import scope
from eval.records.comma_separated import write_rows
from eval.records.run import Run
from eval.rendering.numbers import interval, p_value, signed
from eval.rendering.tables import answered, type_name
from eval.summary.contrast import Contrast, Row
from eval.summary.measures import ABSTAINED, lower_is_better, types_of
from eval.summary.summarise import OVERALL

_DECIDING = ("difference", "p (Holm)", "verdict")
_EXPLAINING = ("d_z", "detectable")
COLUMNS = (
    *("score", "type", "run", "run_id", "reference", "n", "conversations"),
    *("mean", "mean_low", "mean_high", "difference", "difference_low", "difference_high"),
    *("p", "p_holm", "p_mcnemar", "d_z", "needed", "verdict"),
)


def table(rows: Sequence[Row], runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Return header and a line per run of each row; McNemar's p only where some row has one.

    First what decides, the difference, p and the verdict, then what explains it.
    """
    exact = any(one.p_mcnemar is not None for row in rows for one in row.contrasts)
    header = ["type", "run", "n", "mean", *_DECIDING, *_exact(exact), *_EXPLAINING]
    lines, types = [], types_of(runs)
    for row in rows:
        reference = ["reference", *[""] * (len(header) - 5)]
        for i, run in enumerate(runs):
            name = "" if i else type_name(row.type, types)
            start = [name, run.label, str(row.n), interval(row.means[i])]
            lines.append(start + (_contrast(row.contrasts[i - 1], exact) if i else reference))
    return header, lines


def comma_separated(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> str:
    """Return CSV with all numbers at full precision: a line per run of each row."""
    lines: list[list[object]] = [list(COLUMNS)]
    for row in (row for rows in tables for row in rows):
        for i, run in enumerate(runs):
            mean, run_id = row.means[i], run.manifest["run_id"]
            line: list[object] = [row.key, row.type, run.label, run_id, runs[0].label]
            line += [row.n, row.clusters, mean.value, mean.low, mean.high]
            if i:
                one = row.contrasts[i - 1]
                line += [one.difference.value, one.difference.low, one.difference.high]
                line += [one.p, one.p_holm, one.p_mcnemar, one.effect, one.needed, one.verdict]
            lines.append(line + [None] * (len(COLUMNS) - len(line)))
    text = io.StringIO()
    write_rows(text, lines)
    return text.getvalue()


def pairs(rows: Sequence[Row], runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Return header and a line for each pair of `runs`. `rows`: of each run but the last, its
    contrasts with the runs after it.
    """
    exact = any(one.p_mcnemar is not None for found in rows for one in found.contrasts)
    lines = [
        [other.label, reference.label, str(found.n), *_contrast(one, exact)]
        for i, (reference, found) in enumerate(zip(runs[:-1], rows, strict=True))
        for other, one in zip(runs[i + 1 :], found.contrasts, strict=True)
    ]
    return ["run", "reference", "n", *_DECIDING, *_exact(exact), *_EXPLAINING], lines


def verdict_text(one: Contrast) -> str:
    """Return the verdict; `no difference shown` is followed by the least that would be shown."""
    if one.verdict != "no difference shown":
        return one.verdict
    least = _detectable(one)
    return f"{one.verdict} ({f'detectable: {least}' if 0 < one.needed <= 1 else least})"


def _detectable(one: Contrast) -> str:
    """Return the minimum detectable difference, or why there is none."""
    if one.needed == 0:
        return "all scores are equal"
    return "too few questions" if one.needed > 1 else f"{one.needed:.3f}"


def _exact(exact: bool) -> list[str]:
    return ["p (McNemar)"] if exact else []


def difference_cells(one: Contrast) -> list[str]:
    """Return the difference with its interval, the adjusted p and the verdict."""
    return [interval(one.difference, form=signed), p_value(one.p_holm), verdict_text(one)]


def conclusions(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> list[str]:
    """Return a sentence per run after the first and per measure, on overall if it is there, else
    the last type.

    Abstention is reported only if nothing else was compared.
    """
    return [_conclusion(row, i, runs) for i in range(len(runs) - 1) for row in _concluding(tables)]


def brief(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> list[str]:
    """Return the conclusions as one short sentence each."""
    return [_brief(row, i, runs) for i in range(len(runs) - 1) for row in _concluding(tables)]


def method(
    tables: Sequence[Sequence[Row]], runs: Sequence[Run], reference: str = "", extra: int = 0
) -> str:
    """Return one paragraph on how differences, p and `detectable` were computed. `reference`: by
    default the first run; `extra`: number of the last tables that are adjusted apart.
    """
    counts = [sum(len(row.contrasts) for row in rows) for rows in tables]
    count, apart = sum(counts[: len(counts) - extra]), sum(counts[len(counts) - extra :])
    over = scope(row.clusters for rows in tables for row in rows)
    adjusted = f"Holm's over the {count} comparisons shown" if count > 1 else "one comparison"
    if apart:
        adjusted += f", and apart from them over {apart} of retrieval"
    return (
        f"Difference: run minus {reference or runs[0].label} on the same questions, "
        f"95% interval {over}. p: sign-flip test, {adjusted}. detectable: the minimum "
        "detectable difference at 80% power. docs/statistics.md explains them."
    )


def _concluding(tables: Sequence[Sequence[Row]]) -> list[Row]:
    scored = [rows for rows in tables if rows and rows[0].key != ABSTAINED]
    reported = scored or [rows for rows in tables if rows]
    return [next((row for row in rows if row.type == OVERALL), rows[-1]) for rows in reported]


def _brief(row: Row, index: int, runs: Sequence[Run]) -> str:
    first, run, one = runs[0].label, runs[index + 1].label, row.contrasts[index]
    where = answered(types_of(runs)) if row.type == OVERALL else row.type
    score = "false refusals" if lower_is_better(row.key, row.type) else row.key
    if one.verdict == "no difference shown":
        start = f"{run}: no difference from {first} shown on {where}"
    else:
        start = f"{run} is {one.verdict} than {first} on {where}"
    p = f"p = {p_value(one.p_holm)}".replace("= <", "<")
    return f"{start}: {score} {interval(one.difference, form=signed)}, {p}."


def _contrast(one: Contrast, exact: bool) -> list[str]:
    cells = [interval(one.difference, form=signed), p_value(one.p_holm), one.verdict]
    if exact:
        cells.append("-" if one.p_mcnemar is None else p_value(one.p_mcnemar))
    return [*cells, signed(one.effect, 2), _detectable(one)]


def _conclusion(row: Row, index: int, runs: Sequence[Run]) -> str:
    first, run, one = runs[0].label, runs[index + 1].label, row.contrasts[index]
    where = answered(types_of(runs)) if row.type == OVERALL else row.type
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
    if one.needed > 1:
        return "too few questions to detect any difference."
    return f"minimum detectable difference at 80% power: {one.needed:.3f}."
