"""Write a comparison as Markdown, CSV and LaTeX, with charts as PNG and SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from eval.analyse.compare.plots import forest, heatmap
from eval.metrics.stats.interval import scope
from eval.records.files import write_text
from eval.records.run import Run
from eval.rendering.contrasts import comma_separated, conclusions, table
from eval.rendering.figures import names
from eval.rendering.tables import markdown
from eval.summary.contrast import Row
from memsys.core.errors import InputError

_TEX = {c: "\\" + c for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
_TEX |= {"^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$"}


def write(
    folder: Path,
    titled: Sequence[tuple[str, Sequence[Row]]],
    runs: Sequence[Run],
    warnings: Sequence[str],
    how: str,
) -> list[str]:
    """Write tables (title and rows) and charts into `folder`; returns the names of the files.
    `how`: how they were computed.

    Raises InputError if the folder cannot be written.
    """
    tables = [rows for _, rows in titled]
    texts = {
        "compare.md": _markdown(titled, runs, warnings, how),
        "compare.csv": comma_separated(tables, runs),
        "compare.tex": "\n".join(
            latex(rows, runs, _caption(name, rows, runs)) for name, rows in titled
        ),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_text(folder / name, text)
        forest(titled, runs, folder / "forest")
        heatmap(titled, runs, folder / "heatmap")
    except OSError as error:
        raise InputError(f"--out {folder}: cannot be written ({error}); name another") from error
    return [*texts, *(name for chart in ("forest", "heatmap") for name in names(Path(chart)))]


def _markdown(
    titled: Sequence[tuple[str, Sequence[Row]]],
    runs: Sequence[Run],
    warnings: Sequence[str],
    how: str,
) -> str:
    tables = [rows for _, rows in titled]
    named = [[run.label, run.manifest["run_id"], run.manifest["dataset"]] for run in runs]
    parts = [f"# {', '.join(run.label for run in runs[1:])} against {runs[0].label}"]
    parts += conclusions(tables, runs)
    parts += [markdown(["run", "id", "data"], named)]
    parts += [f"Note: {warning}" for warning in warnings]
    for name, rows in titled:
        parts += [f"## {name}", markdown(*table(rows, runs))]
    parts += [how]
    parts += ["![Differences by type](forest.png)", "![Means by type and run](heatmap.png)"]
    return "\n\n".join(parts) + "\n"


def _caption(name: str, rows: Sequence[Row], runs: Sequence[Run]) -> str:
    over = scope(row.clusters for row in rows)
    return f"{name}: mean and difference to {runs[0].label}, 95% intervals {over}"


def latex(rows: Sequence[Row], runs: Sequence[Run], caption: str) -> str:
    """Return the rows as a LaTeX table, which needs the package booktabs."""
    header, cells = table(rows, runs)
    body: list[str] = []
    for line in cells:
        if line[0] and body:
            body.append(r"\addlinespace")
        body.append(" & ".join(_tex(cell) for cell in line) + r" \\")
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_tex(caption)}}}",
        rf"\begin{{tabular}}{{ll{'r' * (len(header) - 3)}l}}",
        r"\toprule",
        " & ".join(_tex(name) for name in header) + r" \\",
        *(r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""),
    ]
    return "\n".join(lines)


def _tex(text: str) -> str:
    escaped = "".join(_TEX.get(c, c) for c in text).replace("$>$=", r"$\geq$")
    return re.sub(r"(?<!\w)-(?=\d)", "$-$", escaped).replace("d\\_z", "$d_z$")
