"""A comparison as rows of text, for people, for LaTeX and for other programs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from eval.records.run import Run
from eval.rendering.numbers import interval, p_value, signed
from eval.rendering.tables import type_name
from eval.summary.contrast import Contrast, Row

_COLUMNS = (
    *("score", "type", "run", "run_id", "reference", "n", "conversations"),
    *("mean", "mean_low", "mean_high", "difference", "difference_low", "difference_high"),
    *("p", "p_holm", "p_mcnemar", "d_z", "needed", "verdict"),
)
_TEX = {c: "\\" + c for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
_TEX |= {"^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$"}


def table(rows: Sequence[Row], runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Header and a line for each run of each row; McNemar's p only where some row has one."""
    exact = any(one.p_mcnemar is not None for row in rows for one in row.contrasts)
    header = ["type", "run", "n", "mean", "difference", "p (Holm)"]
    header += [*(["p (McNemar)"] if exact else []), "d_z", "verdict"]
    lines = []
    for row in rows:
        reference = ["reference", *[""] * (len(header) - 5)]
        for i, run in enumerate(runs):
            start = [
                "" if i else type_name(row.type),
                run.label,
                str(row.n),
                interval(row.means[i]),
            ]
            lines.append(start + (_contrast(row.contrasts[i - 1], exact) if i else reference))
    return header, lines


def latex(rows: Sequence[Row], runs: Sequence[Run], caption: str) -> str:
    """The same as a table for LaTeX; needs the package booktabs."""
    header, lines = table(rows, runs)
    body: list[str] = []
    for line in lines:
        if line[0] and body:
            body.append(r"\addlinespace")
        body.append(" & ".join(_tex(cell) for cell in line) + r" \\")
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(caption)}}}",
            rf"\begin{{tabular}}{{ll{'r' * (len(header) - 3)}l}}",
            r"\toprule",
            " & ".join(_tex(name) for name in header) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def comma_separated(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> str:
    """Every figure of every table in full, a line for each run of each row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in (row for rows in tables for row in rows):
        for i, run in enumerate(runs):
            own = row.means[i]
            line: list[object] = [
                row.key,
                row.type,
                run.label,
                run.manifest["run_id"],
                runs[0].label,
            ]
            line += [row.n, row.clusters, own.value, own.low, own.high]
            if i:
                one = row.contrasts[i - 1]
                line += [one.difference.value, one.difference.low, one.difference.high]
                line += [one.p, one.p_holm, one.p_mcnemar, one.effect, one.needed, one.verdict]
            writer.writerow(line + [None] * (len(_COLUMNS) - len(line)))
    return text.getvalue()


def least(one: Contrast) -> str:
    """`no difference shown` with what would have been needed; else the verdict alone."""
    if one.verdict != "no difference shown":
        return one.verdict
    if one.needed == 0:
        return f"{one.verdict} (all scores are equal)"
    return f"{one.verdict} (needs >= {one.needed:.3f})"


def _contrast(one: Contrast, exact: bool) -> list[str]:
    cells = [interval(one.difference, form=signed), p_value(one.p_holm)]
    if exact:
        cells.append("-" if one.p_mcnemar is None else p_value(one.p_mcnemar))
    return [*cells, signed(one.effect, 2), least(one)]


def _tex(text: str) -> str:
    escaped = "".join(_TEX.get(c, c) for c in text).replace("$>$=", r"$\geq$")
    return re.sub(r"(?<!\w)-(?=\d)", "$-$", escaped).replace("d\\_z", "$d_z$")
