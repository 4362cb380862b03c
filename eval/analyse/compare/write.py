"""Write a comparison as Markdown, CSV and LaTeX, with charts as PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.analyse.compare.plots import forest, heatmap
from eval.metrics.stats.interval import scope
from eval.records.files import write_text
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.contrasts import comma_separated, conclusions, table
from eval.rendering.figures import names
from eval.summary.contrast import Row
from memsys.core.errors import InputError


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
            table(rows, runs).latex(_caption(name, rows, runs)) for name, rows in titled
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
    parts += [Table(["run", "id", "data"], named).markdown()]
    parts += [f"Note: {warning}" for warning in warnings]
    for name, rows in titled:
        parts += [f"## {name}", table(rows, runs).markdown()]
    parts += [how]
    parts += ["![Differences by type](forest.png)", "![Means by type and run](heatmap.png)"]
    return "\n\n".join(parts) + "\n"


def _caption(name: str, rows: Sequence[Row], runs: Sequence[Run]) -> str:
    over = scope(row.clusters for row in rows)
    return f"{name}: mean and difference to {runs[0].label}, 95% intervals {over}"
