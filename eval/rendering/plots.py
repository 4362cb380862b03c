"""Charts of data frames on matplotlib's axes: bars, dots, curves, shares and a Pareto front.

Every function draws on `ax`, or on new axes, and returns them. The interval of a column `f1` is in
`f1_low` and `f1_high`, or else in `low` and `high`. A strategy has its colour, and in charts with
points its marker, wherever its name or label is a value of `colour`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval.rendering.palette import GREY, Look, looks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_OF_RUNS = ("run", "strategy")  # columns with a strategy in each value
_WIDTH = 9  # inches
_REST = "#DDDDDD"
_BAND = 0.8  # share of a place that its bars or dots fill


def bars(
    table: pd.DataFrame,
    score: str = "f1",
    ax: Axes | None = None,
    *,
    by: str = "type",
    colour: str = "run",
    line: float | None = None,
) -> Axes:
    """Draw bars of `score` with intervals for each value of column `by`, coloured by `colour`.

    `line`: height of a horizontal reference.
    """
    axes = _axes(ax, 3.6)
    known = _known(table, score, by, colour)
    places, series = _values(known[by]), _looks(known[colour])
    low, high = ends(table, score)
    width = _BAND / max(len(series), 1)
    for number, look in enumerate(series):
        rows = known[known[colour] == look.name]
        reach = [(rows[score] - rows[low]).clip(0), (rows[high] - rows[score]).clip(0)]
        at = [places.index(name) + _shift(number, len(series)) for name in rows[by]]
        axes.bar(
            at, rows[score], width * 0.9, yerr=reach, capsize=2, label=look.name, color=look.hex
        )
    axes.set_xticks(range(len(places)), places)
    axes.set(ylabel=score, ylim=(None if (known[low] < 0).any() else 0, None))
    if line is not None:
        axes.axhline(line, color="black", linewidth=1)
    return _finished(axes, len(series))


def dots(
    table: pd.DataFrame,
    score: str = "mean",
    ax: Axes | None = None,
    *,
    by: str = "run",
    colour: str | None = None,
    line: float | None = None,
) -> Axes:
    """Draw `score` with intervals as dots, a row for each value of column `by`, the first at the
    top, coloured by `colour`, or by the row itself.

    `line`: place of a vertical reference, such as 0 for differences.
    """
    known = _known(table, score, by, colour or by)
    places, series = _values(known[by]), _looks(known[colour or by])
    each = 1 if colour is None else len(series)
    axes = _axes(ax, 0.9 + len(places) * (0.12 + 0.16 * each))
    low, high = ends(table, score)
    for number, look in enumerate(series):
        rows = known[known[colour or by] == look.name]
        reach = [(rows[score] - rows[low]).clip(0), (rows[high] - rows[score]).clip(0)]
        shift = 0.0 if colour is None else _shift(number, each)
        at = [places.index(name) + shift for name in rows[by]]
        style: dict[str, Any] = {"fmt": look.symbol, "markersize": 5, "linewidth": 1.5, "color": look.hex}
        axes.errorbar(rows[score], at, xerr=reach, label=look.name, **style)
    axes.set_yticks(range(len(places)), places)
    axes.set(xlabel=score, ylim=(len(places) - 0.5, -0.5))
    if line is not None:
        axes.axvline(line, color="black", linewidth=1)
    return _finished(axes, each)


def curves(
    table: pd.DataFrame, scores: Sequence[str], ax: Axes | None = None, *, colour: str = "run"
) -> Axes:
    """Draw a curve for each row over the numbers at the ends of `scores`, such as `recall@10`."""
    axes = _axes(ax, 3.8)
    across = [int(score.rpartition("@")[2]) for score in scores]
    for (_, row), look in zip(table.iterrows(), _looks(table[colour]), strict=True):
        style: dict[str, Any] = {"color": look.hex, "marker": look.symbol, "markersize": 5, "label": look.name}
        axes.plot(across, [row[score] for score in scores], **style)
    axes.set_xscale("log")
    axes.set_xticks(across, [str(one) for one in across])
    axes.minorticks_off()
    axes.set(xlabel="cutoff", ylabel=str(scores[0]).rpartition("@")[0], ylim=(0, 1.02))
    return _finished(axes, len(table))


def shares(
    table: pd.DataFrame, parts: Sequence[str], ax: Axes | None = None, *, by: Sequence[str]
) -> Axes:
    """Draw a row for each line of `table`, named by the columns `by`, with the columns `parts`
    beside each other, the last in grey.
    """
    axes = _axes(ax, 0.9 + 0.3 * len(table))
    names = [" ".join(str(row[column]) for column in by) for _, row in table.iterrows()]
    left = [0.0] * len(table)
    colours = [look.hex for look in looks(parts[:-1], ["part"] * (len(parts) - 1))] + [_REST]
    for part, colour in zip(parts, colours, strict=True):
        axes.barh(range(len(table)), table[part], 0.7, left, color=colour, label=part)
        left = [at + width for at, width in zip(left, table[part], strict=True)]
    axes.set_yticks(range(len(table)), names)
    axes.set(xlim=(0, 1), ylim=(len(table) - 0.5, -0.5))
    return _finished(axes, len(parts))


def front(
    table: pd.DataFrame,
    cost: str = "context_tokens_mean",
    score: str = "f1",
    ax: Axes | None = None,
    *,
    colour: str = "run",
) -> Axes:
    """Draw `score` with intervals against the logarithm of `cost`, a point for each row, and the
    Pareto front: the rows that no other has a higher score than, at the same cost or less.
    """
    axes = _axes(ax, 4.5)
    low, high = ends(table, score)
    for (_, row), look in zip(table.iterrows(), _looks(table[colour]), strict=True):
        reach = [[max(row[score] - row[low], 0)], [max(row[high] - row[score], 0)]]
        style: dict[str, Any] = {"fmt": look.symbol, "color": look.hex, "capsize": 3, "label": look.name}
        axes.errorbar(row[cost], row[score], yerr=reach, **style)
    best = on_front(table, cost, score)
    axes.step(best[cost], best[score], where="post", color=GREY, linewidth=1, zorder=0)
    axes.set_xscale("log")
    axes.set(xlabel=f"{cost} (log scale)", ylabel=score)
    return _finished(axes, len(table))


def on_front(table: pd.DataFrame, cost: str, score: str) -> pd.DataFrame:
    """Return the rows on the Pareto front, the cheapest first; see front."""
    ordered = table.sort_values([cost, score], ascending=[True, False])
    before = ordered[score].cummax().shift(fill_value=float("-inf"))
    return ordered[ordered[score] > before]


def ends(table: pd.DataFrame, score: str) -> tuple[str, str]:
    """Return the names of the columns with the ends of the interval of `score`."""
    named = f"{score}_low" in table
    return (f"{score}_low", f"{score}_high") if named else ("low", "high")


def _axes(ax: Axes | None, height: float) -> Axes:
    from matplotlib import pyplot  # noqa: PLC0415 - half a second

    if ax is not None:
        return ax
    return pyplot.subplots(figsize=(_WIDTH, height), layout="constrained")[1]


def _finished(axes: Axes, series: int) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    if series > 1:  # beside the axes, where it covers nothing
        axes.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return axes


def _known(table: pd.DataFrame, score: str, *named: str) -> pd.DataFrame:
    """Return the rows whose `score` is known, with the columns `named` as text."""
    known = table[table[score].notna()]
    return known.assign(**{name: known[name].astype(str) for name in named})


def _values(column: pd.Series) -> list[str]:
    return list(dict.fromkeys(column))


def _looks(column: pd.Series) -> list[Look]:
    """Return a look for each value: that of the strategy where the column names runs."""
    names = _values(column)
    return looks(names, None if column.name in _OF_RUNS else [str(column.name)] * len(names))


def _shift(number: int, count: int) -> float:
    return (number - (count - 1) / 2) * _BAND / max(count, 1)
