"""`python -m eval.studies.pictures`: draw the figures of README and docs from results/tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.cli import code_of, parser
from eval.rendering.palette import MARKERS, PALETTE
from memsys.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_ROOT = Path(__file__).parents[2]
_SCORES = {"locomo_f1": "LoCoMo's F1", "evidence_recall": "evidence recall"}
_ONE = {"tellers": "one"}
# Tables of each picture: name, parameter along x, its label, and the rows that are shown.
_CURVES: dict[str, list[tuple[str, str, str, dict[str, str]]]] = {
    "synthetic": [
        ("synthetic_hops", "hops", "facts that a question needs", {}),
        ("synthetic_distractors", "distractors", "share of turns without a question", {}),
        ("synthetic_updates", "updates", "changes of a fact", {}),
    ],
    "kept": [
        ("kept", "updates", "changes of a fact; its current value", _ONE | {"type": "single_hop"}),
        ("kept", "updates", "changes of a fact; a former value", _ONE | {"type": "former_value"}),
        ("kept_hops", "hops", "facts that a question needs", {}),
        ("overlooked", "misses", "share of messages overlooked", {}),
    ],
}
_OVERALL = ("five_strategies", "budget")
_LINES = {
    "synthetic": "vector_only hybrid_rank graph_expand graph_follow graph_walk full_context",
    "kept": "vector_only hybrid_rank graph_walk mem0 mem0_graph mem0_graph_follow",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw all pictures; return the exit code: 2 if a table is missing."""
    options = parser("studies.pictures", "Draw the figures of docs/pictures from results/tables.")
    add = options.add_argument
    add("--tables", type=Path, default=_ROOT / "results" / "tables", help="folder of tables")
    add("--out", type=Path, default=_ROOT / "docs" / "pictures", help="folder to write")
    given = options.parse_args(arguments)

    def draw() -> None:
        given.out.mkdir(parents=True, exist_ok=True)
        tables = {name: _means(given.tables / f"{name}.csv") for name in _OVERALL}
        overall = {name: table[table.type == "overall"] for name, table in tables.items()}
        strategies(overall["five_strategies"], given.out / "strategies.png")
        budget(overall["budget"], given.out / "budget.png")
        for name in _CURVES:
            curves(name, given.tables, given.out / f"{name}.png")

    return code_of(draw)


def strategies(means: pd.DataFrame, path: Path) -> None:
    """Draw scores of each strategy on types 1 to 4 with intervals, the best F1 at the top."""
    order = means[means.score == "locomo_f1"].sort_values("mean").strategy.tolist()
    with _panels(path, 2, (9, 3.4), sharey=True) as (_, axes):
        for panel, (score, title) in zip(axes, _SCORES.items(), strict=True):
            rows = means[means.score == score].set_index("strategy").reindex(order)
            at, errors = range(len(rows)), _reach(rows)
            panel.errorbar(rows["mean"], at, xerr=errors, fmt="o", color=PALETTE[0])
            panel.set(title=title, yticks=at, yticklabels=order, xlim=(0, None))
            panel.grid(axis="x", color="#dddddd")


def budget(means: pd.DataFrame, path: Path) -> None:
    """Draw scores with intervals over the budget of context tokens, a line per strategy."""
    with _panels(path, 2, (9, 3.6)) as (_, axes):
        for panel, (score, title) in zip(axes, _SCORES.items(), strict=True):
            groups = means[means.score == score].groupby("strategy", sort=False)
            for i, (name, group) in enumerate(groups):
                rows = group.sort_values("budget")
                _line(panel, i, rows.budget * (1 + 0.03 * (i - 2)), rows, str(name))
            ticks = sorted(means.budget.unique())
            panel.set(title=title, xlabel="budget of context tokens", xscale="log", ylim=(0, None))
            panel.set_xticks(ticks, [f"{int(tick):,}" for tick in ticks])
            panel.minorticks_off()
            panel.grid(color="#dddddd")
        axes[0].legend(fontsize=8)


def curves(name: str, tables: Path, path: Path) -> None:
    """Draw F1 over a parameter of the data set or model: a panel per table, a line per strategy."""
    lines: dict[str, Any] = {}
    with _panels(path, len(_CURVES[name]), (12, 3.6), sharey=True) as (figure, axes):
        for panel, (table, parameter, title, shown) in zip(axes, _CURVES[name], strict=True):
            means = _means(tables / f"{table}.csv")
            means = means[means.score == "locomo_f1"]
            for column, wanted in {"type": "overall", **shown}.items():
                means = means[means[column] == wanted]
            at = {value: i for i, value in enumerate(sorted(means[parameter].unique(), key=float))}
            for i, strategy in enumerate(_LINES[name].split()):
                rows = means[means.strategy == strategy]
                if not rows.empty:
                    where = [at[value] + 0.06 * (i - 2) for value in rows[parameter]]
                    _line(panel, i, where, rows, strategy)
            panel.set(xlabel=title, ylim=(-0.03, 1.03))
            panel.set_xticks(range(len(at)), list(at))
            panel.grid(color="#dddddd")
            handles, labels = panel.get_legend_handles_labels()
            lines |= dict(zip(labels, handles, strict=True))
        axes[0].set(ylabel=_SCORES["locomo_f1"])
        style = {"loc": "outside lower center", "ncols": 6, "frameon": False, "fontsize": 8}
        figure.legend(list(lines.values()), list(lines), **style)


@contextmanager
def _panels(path: Path, n: int, size: tuple[float, float], **settings: Any) -> Iterator[Any]:
    """A figure with `n` panels side by side, written to `path` at the end."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - takes half a second

    figure, axes = plt.subplots(1, n, figsize=size, layout="constrained", **settings)
    yield figure, axes
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _line(panel: Any, i: int, at: Any, rows: pd.DataFrame, label: str) -> None:
    """Draw means with intervals as line `i`; lines are drawn side by side, at slightly other x."""
    style = {"color": PALETTE[i], "marker": MARKERS[i], "markersize": 4, "linewidth": 1}
    panel.errorbar(at, rows["mean"], yerr=_reach(rows), label=label, **style)


def _reach(rows: pd.DataFrame) -> list[Any]:
    """Distances of the interval's ends; rounding may put one on the wrong side of its mean."""
    return [(rows["mean"] - rows.mean_low).clip(0), (rows.mean_high - rows["mean"]).clip(0)]


def _means(path: Path) -> pd.DataFrame:
    """Read a table and add a column for each setting in which its runs differ."""
    import pandas as pd  # noqa: PLC0415 - takes a third of a second

    if not path.is_file():
        raise InputError(f"{path}: no such table; make it with python -m eval.tabulate {path.stem}")
    table = pd.read_csv(path)
    settings = table.run.str.extractall(r"(?:[\w.]+\.)?(\w+)=(\S+)").reset_index()
    table = table.join(settings.pivot(index="level_0", columns=0, values=1))
    if "budget" in table:
        table["budget"] = table.budget.astype(float)
    return table


if __name__ == "__main__":
    sys.exit(main())
