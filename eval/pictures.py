"""`python -m eval.pictures`: the pictures of README, drawn from results/tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.exits import code_of
from memsys.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_ROOT = Path(__file__).parents[1]
_SCORES = {"locomo_f1": "F1 (LoCoMo's own)", "evidence_recall": "evidence recall"}
# Okabe and Ito (2008): apart for every kind of colour vision.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#767676")
_MARKERS = "osD^v"


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw both; returns the exit code: 2 where a table is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.pictures", description="Draw docs/pictures from results/tables."
    )
    parser.add_argument("--tables", type=Path, default=_ROOT / "results" / "tables")
    parser.add_argument("--out", type=Path, default=_ROOT / "docs" / "pictures")
    options = parser.parse_args(arguments)

    def draw() -> None:
        options.out.mkdir(parents=True, exist_ok=True)
        strategies(_means(options.tables / "five_strategies.csv"), options.out / "strategies.png")
        budget(_means(options.tables / "budget.csv"), options.out / "budget.png")

    return code_of(draw)


def strategies(means: pd.DataFrame, path: Path) -> None:
    """Each strategy's scores on types 1 to 4 with their intervals, the best F1 at the top."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - takes half a second

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    order = means[means.score == "locomo_f1"].sort_values("mean").strategy.tolist()
    for panel, (score, title) in zip(axes, _SCORES.items(), strict=True):
        rows = means[means.score == score].set_index("strategy").reindex(order)
        errors = [rows["mean"] - rows.mean_low, rows.mean_high - rows["mean"]]
        panel.errorbar(rows["mean"], range(len(rows)), xerr=errors, fmt="o", color=_COLOURS[0])
        panel.set(title=title, yticks=range(len(rows)), yticklabels=order, xlim=(0, None))
        panel.grid(axis="x", color="#dddddd")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def budget(means: pd.DataFrame, path: Path) -> None:
    """Scores over the budget of context tokens, a line a strategy, with their intervals."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for panel, (score, title) in zip(axes, _SCORES.items(), strict=True):
        groups = means[means.score == score].groupby("strategy", sort=False)
        for i, (name, own) in enumerate(groups):
            rows = own.sort_values("budget")
            at = rows.budget * (1 + 0.03 * (i - 2))  # side by side, so that intervals can be told
            errors = [rows["mean"] - rows.mean_low, rows.mean_high - rows["mean"]]
            style = {"color": _COLOURS[i], "marker": _MARKERS[i], "markersize": 4}
            panel.errorbar(at, rows["mean"], yerr=errors, label=name, linewidth=1, **style)
        ticks = sorted(means.budget.unique())
        panel.set(title=title, xlabel="budget of context tokens", xscale="log", ylim=(0, None))
        panel.set_xticks(ticks, [f"{int(tick):,}" for tick in ticks])
        panel.minorticks_off()
        panel.grid(color="#dddddd")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _means(path: Path) -> pd.DataFrame:
    """Rows of a table for types 1 to 4 with the columns strategy and, where told, budget."""
    import pandas as pd  # noqa: PLC0415 - takes a third of a second

    if not path.is_file():
        raise InputError(f"{path}: no such table; make it by python -m eval.tabulate {path.stem}")
    table = pd.read_csv(path)
    table = table[table.type == "overall"]
    settings = table.run.str.extractall(r"(?:strategy\.)?(\w+)=(\S+)").reset_index()
    wide = settings.pivot(index="level_0", columns=0, values=1)
    table = table.join(wide[[name for name in ("strategy", "budget") if name in wide]])
    if "budget" in table:
        table["budget"] = table.budget.astype(float)
    return table


if __name__ == "__main__":
    sys.exit(main())
