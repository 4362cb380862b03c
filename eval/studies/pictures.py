"""`python -m eval.studies.pictures`: draw the figures of README and docs from results/tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.cli import code_of, parser
from eval.rendering.figures import figure, log_axis, reach
from eval.rendering.palette import Look, looks
from eval.studies.bench_scale.picture import draw as draw_scale
from memsys.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROOT = Path(__file__).parents[2]
_SCORES = {"locomo_f1": "LoCoMo's F1", "evidence_recall": "evidence recall"}
_ONE = {"tellers": "one"}
# Rows of panels: table, parameter along x, its label, title, and the rows of the table shown.
_CURVES: dict[str, list[tuple[str, str, str, str, dict[str, str]]]] = {
    "synthetic": [
        ("synthetic_hops", "hops", "facts that a question needs", "Chains of facts", {}),
        (
            *("synthetic_distractors", "distractors", "share of turns without a question"),
            *("Distractors", {}),
        ),
        ("synthetic_updates", "updates", "changes of a fact", "Changing facts", {}),
    ],
    "kept": [
        ("kept", "updates", "changes of a fact", "Current value", _ONE | {"type": "single_hop"}),
        ("kept", "updates", "changes of a fact", "Former value", _ONE | {"type": "former_value"}),
        ("kept_hops", "hops", "facts that a question needs", "Chains of facts", {}),
        ("overlooked", "misses", "share of messages overlooked", "Overlooked messages", {}),
    ],
}
_LINES = {
    "synthetic": "vector_only hybrid_rank graph_expand graph_follow graph_walk full_context",
    "kept": "vector_only hybrid_rank graph_walk mem0 mem0_graph mem0_graph_follow",
}
_NEAR = 0.17  # share of an axis that a label of a tick takes
_ASIDE = 1.09  # factor between the places of two runs at one value of a logarithmic axis


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw all pictures; return the exit code: 2 if a table is missing."""
    options = parser("studies.pictures", "Draw the figures of docs/pictures from results/tables.")
    add = options.add_argument
    add("--tables", type=Path, default=_ROOT / "results" / "tables", help="folder of tables")
    add("--out", type=Path, default=_ROOT / "docs" / "pictures", help="folder to write")
    given = options.parse_args(arguments)

    def draw() -> None:
        given.out.mkdir(parents=True, exist_ok=True)
        strategies(_overall(given.tables / "default_sweep.csv"), given.out / "strategies")
        budget(_overall(given.tables / "budget.csv"), given.out / "budget")
        for name in _CURVES:
            curves(name, given.tables, given.out / name)
        draw_scale(_existing(given.tables / "scale.csv", "bench_scale"), given.out / "scale")

    return code_of(draw)


def strategies(means: pd.DataFrame, path: Path) -> None:
    """Draw scores of each strategy on types 1 to 4 with intervals, the best F1 at the top."""
    order = means[means.score == "locomo_f1"].sort_values("mean").run.tolist()
    with figure(path, 3.9) as drawn:
        for panel, (score, title) in zip(
            drawn.subplots(1, 2, sharey=True), _SCORES.items(), strict=True
        ):
            rows = means[means.score == score].set_index("run").reindex(order).reset_index()
            for y, look in enumerate(looks(order)):
                one = rows.iloc[[y]]
                style: dict[str, Any] = {"color": look.hex, "fmt": look.symbol}
                panel.errorbar(one["mean"], y, xerr=_reach(one), markersize=look.size, **style)
            panel.set(title=title, xlabel="mean of types 1-4, 95% interval", xlim=(-0.02, None))
            panel.set_yticks(range(len(order)), order)


def budget(means: pd.DataFrame, path: Path) -> None:
    """Draw over the budget of context tokens: the scores of the first and the last strategy, and
    the differences of the others to the first, which would cover each other beside its scores.
    """
    first, *others, last = means.strategy.unique()
    with figure(path, 5.4) as drawn:
        for (scores, differences), (score, title) in zip(
            drawn.subplots(2, 2), _SCORES.items(), strict=True
        ):
            of_score = means[means.score == score].sort_values("budget")
            for look in looks([first, last]):
                rows = of_score[of_score.strategy == look.name]
                _line(scores, rows.budget, rows, look)
            differences.axhline(0, color="#2b3038", linewidth=1)
            for i, look in enumerate(looks(others)):
                rows = of_score[of_score.strategy == look.name]
                at = rows.budget * _ASIDE ** (i - (len(others) - 1) / 2)
                ends = rows.difference, rows.difference_low, rows.difference_high
                style: dict[str, Any] = {"color": look.hex, "fmt": look.symbol}
                style["markersize"] = look.size
                differences.errorbar(at, ends[0], yerr=reach(*ends), label=look.name, **style)
            scores.set(title=title, ylim=(0, None), ylabel=title)
            differences.set(title=f"{title}: difference to {first}", ylabel="difference")
            for panel in (scores, differences):
                log_axis(panel, means.budget.tolist())
                panel.set_xlim(means.budget.min() / 1.35, means.budget.max() * 1.35)
                panel.set_xlabel("budget of context tokens (log scale), 95% interval")
        shown = [panel.get_legend_handles_labels() for panel in (scores, differences)]
        handles, labels = (
            [one for each in pair for one in each] for pair in zip(*shown, strict=True)
        )
        drawn.legend(handles, labels, loc="outside lower center", ncols=5)


def curves(name: str, tables: Path, path: Path) -> None:
    """Draw F1 over parameters of the data set or model: a row of panels per table, a panel per
    strategy, in which the lines of the others are grey.
    """
    shown = looks(_LINES[name].split())
    rows = len(_CURVES[name])
    with figure(path, 0.5 + 1.62 * rows) as drawn:
        parts: Any = drawn.subfigures(rows, 1)
        for part, (table, parameter, across, title, wanted) in zip(
            parts, _CURVES[name], strict=True
        ):
            means = _means(_existing(tables / f"{table}.csv", table))
            means = means[means.score == "locomo_f1"]
            for column, value in {"type": "overall", **wanted}.items():
                means = means[means[column] == value]
            means = means.assign(at=means[parameter].astype(float)).sort_values("at")
            present = [look for look in shown if (means.strategy == look.name).any()]
            panels: Any = part.subplots(1, len(shown), sharex=True, sharey=True)
            for panel, look in zip(panels, shown, strict=True):
                if look not in present:
                    panel.set_visible(False)
                    continue
                for other in present:
                    grey = means[means.strategy == other.name]
                    panel.plot(grey["at"], grey["mean"], color="#c9ced4", linewidth=1)
                _line(panel, means["at"][means.strategy == look.name], _of(means, look), look)
                name_ = look.name.replace("_graph_", "_graph_\n")
                panel.set_title(name_, fontsize=9, color=look.hex, weight="bold")
            panels[0].set(ylim=(-0.05, 1.08), yticks=(0, 0.5, 1), ylabel=f"{title}\nF1")
            ticks = means["at"].unique().tolist()
            panels[0].set_xticks(ticks, _ticks(ticks))
            part.supxlabel(f"{across}, 95% interval", fontsize=9)


def _of(means: pd.DataFrame, look: Look) -> pd.DataFrame:
    return means[means.strategy == look.name]


def _ticks(values: Sequence[float]) -> list[str]:
    """Return labels of ticks; "" for one too near to the next that has a label."""
    span, found = values[-1] - values[0], dict[float, str]()
    for value in reversed(values):
        labelled = [other for other, text in found.items() if text]
        near = labelled and min(labelled) - value < _NEAR * span
        found[value] = "" if near else f"{value:g}"
    return [found[value] for value in values]


def _line(panel: Axes, at: Any, rows: pd.DataFrame, look: Look) -> None:
    """Draw means with intervals as a line."""
    style: dict[str, Any] = {"color": look.hex, "marker": look.symbol, "clip_on": False}
    style["markersize"] = look.size
    panel.errorbar(at, rows["mean"], yerr=_reach(rows), label=look.name, **style)


def _reach(rows: pd.DataFrame) -> list[Any]:
    return reach(rows["mean"], rows.mean_low, rows.mean_high)


def _overall(path: Path) -> pd.DataFrame:
    table = _means(_existing(path, path.stem))
    return table[table.type == "overall"]


def _existing(path: Path, name: str) -> Path:
    if not path.is_file():
        raise InputError(f"{path}: no such table; docs/reproduce.md gives the command for {name}")
    return path


def _means(path: Path) -> pd.DataFrame:
    """Read a table and add a column for each setting in which its runs differ."""
    import pandas as pd  # noqa: PLC0415 - takes a third of a second

    table = pd.read_csv(path)
    settings = table.run.str.extractall(r"(?:[\w.]+\.)?(\w+)=(\S+)").reset_index()
    table = table.join(settings.pivot(index="level_0", columns=0, values=1))
    if "budget" in table:
        table["budget"] = table.budget.astype(float)
    return table


if __name__ == "__main__":
    sys.exit(main())
