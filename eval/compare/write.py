"""The files of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.compare.conclusions import conclusions, method
from eval.compare.plots import forest, heatmap
from eval.compare.tables import comma_separated, latex, table
from eval.records.run import Run
from eval.rendering.tables import markdown
from eval.summary.contrast import Row
from memsys.errors import InputError


def write(
    folder: Path,
    shown: Sequence[tuple[str, Sequence[Row]]],
    runs: Sequence[Run],
    warnings: Sequence[str],
) -> list[str]:
    """Write tables (title and rows) and pictures into `folder`; returns the names of the files.

    Raises InputError if the folder cannot be written.
    """
    tables = [rows for _, rows in shown]
    texts = {
        "compare.md": _markdown(shown, runs, warnings),
        "compare.csv": comma_separated(tables, runs),
        "compare.tex": "\n".join(latex(rows, runs, _caption(name, runs)) for name, rows in shown),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        forest(shown, runs, folder / "forest.png")
        heatmap(shown, runs, folder / "heatmap.png")
    except OSError as error:
        raise InputError(f"--out {folder}: cannot be written ({error}); name another") from error
    return [*texts, "forest.png", "heatmap.png"]


def _markdown(
    shown: Sequence[tuple[str, Sequence[Row]]], runs: Sequence[Run], warnings: Sequence[str]
) -> str:
    tables = [rows for _, rows in shown]
    named = [[run.label, run.manifest["run_id"], run.manifest["dataset"]] for run in runs]
    parts = [f"# {', '.join(run.label for run in runs[1:])} against {runs[0].label}"]
    parts += conclusions(tables, runs)
    parts += [markdown(["run", "id", "data"], named)]
    parts += [f"Note: {warning}" for warning in warnings]
    for name, rows in shown:
        parts += [f"## {name}", markdown(*table(rows, runs))]
    parts += [method(tables, runs)]
    parts += ["![Differences by type](forest.png)", "![Means by type and run](heatmap.png)"]
    return "\n\n".join(parts) + "\n"


def _caption(name: str, runs: Sequence[Run]) -> str:
    return f"{name}: mean and difference to {runs[0].label}, 95% intervals over conversations"
