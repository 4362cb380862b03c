"""Contrasts of runs as rows of a table and as CSV."""

from __future__ import annotations

import io
from collections.abc import Sequence

from eval.records.comma_separated import write_rows
from eval.records.run import Run
from eval.rendering.numbers import interval, p_value, signed
from eval.rendering.tables import type_name
from eval.summary.contrast import Contrast, Row

_COLUMNS = (
    *("score", "type", "run", "run_id", "reference", "n", "conversations"),
    *("mean", "mean_low", "mean_high", "difference", "difference_low", "difference_high"),
    *("p", "p_holm", "p_mcnemar", "d_z", "needed", "verdict"),
)


def table(rows: Sequence[Row], runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Return header and a line per run of each row; McNemar's p only where some row has one."""
    exact = any(one.p_mcnemar is not None for row in rows for one in row.contrasts)
    header = ["type", "run", "n", "mean", "difference", "p (Holm)"]
    header += [*(["p (McNemar)"] if exact else []), "d_z", "verdict"]
    lines = []
    for row in rows:
        reference = ["reference", *[""] * (len(header) - 5)]
        for i, run in enumerate(runs):
            name = "" if i else type_name(row.type)
            start = [name, run.label, str(row.n), interval(row.means[i])]
            lines.append(start + (_contrast(row.contrasts[i - 1], exact) if i else reference))
    return header, lines


def comma_separated(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> str:
    """Return CSV with all numbers at full precision: a line per run of each row."""
    lines: list[list[object]] = [list(_COLUMNS)]
    for row in (row for rows in tables for row in rows):
        for i, run in enumerate(runs):
            mean, run_id = row.means[i], run.manifest["run_id"]
            line: list[object] = [row.key, row.type, run.label, run_id, runs[0].label]
            line += [row.n, row.clusters, mean.value, mean.low, mean.high]
            if i:
                one = row.contrasts[i - 1]
                line += [one.difference.value, one.difference.low, one.difference.high]
                line += [one.p, one.p_holm, one.p_mcnemar, one.effect, one.needed, one.verdict]
            lines.append(line + [None] * (len(_COLUMNS) - len(line)))
    text = io.StringIO()
    write_rows(text, lines)
    return text.getvalue()


def verdict_text(one: Contrast) -> str:
    """Return the verdict; `no difference shown` is followed by the difference it needs."""
    if one.verdict != "no difference shown":
        return one.verdict
    if one.needed == 0:
        return f"{one.verdict} (all scores are equal)"
    return f"{one.verdict} (needs >= {one.needed:.3f})"


def difference_cells(one: Contrast) -> list[str]:
    """Return the difference with its interval, the adjusted p and the verdict."""
    return [interval(one.difference, form=signed), p_value(one.p_holm), verdict_text(one)]


def _contrast(one: Contrast, exact: bool) -> list[str]:
    cells = [interval(one.difference, form=signed), p_value(one.p_holm)]
    if exact:
        cells.append("-" if one.p_mcnemar is None else p_value(one.p_mcnemar))
    return [*cells, signed(one.effect, 2), verdict_text(one)]
