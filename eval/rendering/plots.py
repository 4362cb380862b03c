"""Pictures with matplotlib: files of one style, and charts of data frames as bars, dots, curves,
shares and a Pareto front.

Every function of a chart draws on `ax`, or on new axes, and returns them. The interval of a column
`f1` is in `f1_low` and `f1_high`, or else in `low` and `high`. A strategy has its colour, and in
charts with points its marker, wherever its name or label is a value of `colour`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.rendering.palette import GREY, Look, looks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 8.3  # inches of a file: at the 830 pixels of a README, a point of type is 1.4 pixels
_FORMATS = ("png", "svg")
_SHARP = 200  # dots an inch of a file
_STYLE = Path(__file__).parent / "static" / "pictures.mplstyle"
_OF_RUNS = ("run", "strategy")  # columns with a strategy in each value
_WIDTH, _DPI = 9, 72  # inches; a notebook contains each picture
_REST = "#DDDDDD"
_JUMP = 5
ROUND = [m * 10**power for power in range(8) for m in (1, 2, 5)]  # ticks of a logarithmic axis
_HATCHES = ("", "///", "...", "xxx")  # of series of one colour
_BAND = 0.8  # share of a place that its bars or dots fill


@contextmanager
def figure(
    path: Path, height: float, width: float = WIDTH, style: Mapping[str, Any] | None = None
) -> Iterator[Figure]:
    """Yield a figure, of inches, and write it at the end as PATH.png and PATH.svg: the same files
    on every day. `style`: settings of matplotlib besides those of all pictures.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - takes half a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    settings: Any = {"svg.hashsalt": path.name, **(style or {})}  # else ids in an SVG are random
    with rc_context(settings, fname=_STYLE):
        drawn = Figure(figsize=(width, height), layout="constrained")
        yield drawn
        for name in files_of(path):
            about = {"Date": None} if name.endswith("svg") else {}
            drawn.savefig(path.with_name(name), dpi=_SHARP, metadata=about)


def files_of(path: Path) -> list[str]:
    """Return the names of the files that `figure` writes."""
    return [f"{path.name}.{ending}" for ending in _FORMATS]


def plot(
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
    frame = _scored_rows(table, score, by, colour)
    places, series = _values(frame[by]), list(_series(frame, score, colour))
    width = _BAND / max(len(series), 1)
    for number, (look, rows, bounds) in enumerate(series):
        at = [places.index(name) + _shift(number, len(series)) for name in rows[by]]
        before = sum(other.hex == look.hex for other, *_ in series[:number])  # bars have no markers
        style: dict[str, Any] = {"hatch": _HATCHES[before % len(_HATCHES)], "edgecolor": "white"}
        style |= {"color": look.hex, "label": look.name, "capsize": 2}
        axes.bar(at, rows[score], width * 0.9, yerr=bounds, **style)
    axes.set_xticks(range(len(places)), places)
    low, _ = ends(table, score)
    axes.set(ylabel=score, ylim=(None if (frame[low] < 0).any() else 0, None))
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
    frame = _scored_rows(table, score, by, colour or by)
    places, series = _values(frame[by]), list(_series(frame, score, colour or by))
    each = len(series) if frame[by].duplicated().any() else 1
    axes = _axes(ax, 0.9 + len(places) * (0.12 + 0.16 * each))
    for number, (look, rows, bounds) in enumerate(series):
        shift = _shift(number, each) if each > 1 else 0.0
        at = [places.index(name) + shift for name in rows[by]]
        style: dict[str, Any] = {"fmt": look.symbol, "color": look.hex, "label": look.name}
        axes.errorbar(rows[score], at, xerr=bounds, **style)
    axes.set_yticks(range(len(places)), places)
    axes.set(xlabel=score, ylim=(len(places) - 0.5, -0.5))
    if line is not None:
        axes.axvline(line, color="black", linewidth=1)
    return _finished(axes, len(series) if colour else 1)


def curves(
    table: pd.DataFrame, scores: Sequence[str], ax: Axes | None = None, *, colour: str = "run"
) -> Axes:
    """Draw a curve for each row over the numbers at the ends of `scores`, such as `recall@10`."""
    axes = _axes(ax, 3.8)
    across = [int(score.rpartition("@")[2]) for score in scores]
    for (_, row), look in zip(table.iterrows(), _looks(table[colour]), strict=True):
        values = [row[score] for score in scores]
        axes.plot(across, values, color=look.hex, marker=look.symbol, label=look.name)
    log_axis(axes, across)
    axes.set(xlabel="cutoff", ylabel=str(scores[0]).rpartition("@")[0], ylim=(0, 1.02))
    return _finished(axes, len(table))


def trend(
    table: pd.DataFrame, x: str, score: str = "mean", ax: Axes | None = None, *, colour: str = "run"
) -> Axes:
    """Draw `score` with intervals over the numbers of column `x`, a line for each `colour`; the
    axis is logarithmic where the numbers differ by more than a factor of 5.
    """
    axes = _axes(ax, 3.8)
    frame = _scored_rows(table, score, colour)
    for look, rows, bounds in _series(frame, score, colour, x):
        style: dict[str, Any] = {"color": look.hex, "marker": look.symbol, "label": look.name}
        axes.errorbar(rows[x], rows[score], yerr=bounds, **style)
    numbers = sorted({*frame[x]})
    if numbers[-1] > _JUMP * numbers[0] > 0:
        log_axis(axes, numbers)
    axes.set(xlabel=x, ylabel=score)
    return axes


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
    """Draw `score` with intervals against `cost`, a point for each row, and the Pareto front: the
    rows of which no other has as high a score at the same cost or less. The axis of `cost` is
    logarithmic where the costs differ by more than a factor of 5.
    """
    axes = _axes(ax, 4.5)
    low, high = ends(table, score)
    for (_, row), look in zip(table.iterrows(), _looks(table[colour]), strict=True):
        bounds = [[max(row[score] - row[low], 0)], [max(row[high] - row[score], 0)]]
        style: dict[str, Any] = {"fmt": look.symbol, "color": look.hex, "label": look.name}
        axes.errorbar(row[cost], row[score], yerr=bounds, **style)
    best = on_front(table, cost, score)
    axes.step(best[cost], best[score], where="post", color=GREY, linewidth=1, zorder=0)
    least, most = table[cost].min(), table[cost].max()
    if most > _JUMP * least > 0:
        log_axis(axes, [tick for tick in ROUND if least / 2 < tick < most * 2])
    axes.set(xlabel=cost, ylabel=score)
    return _finished(axes, len(table))


def on_front(table: pd.DataFrame, cost: str, score: str) -> pd.DataFrame:
    """Return the rows on the Pareto front, the cheapest first; see front."""
    rows = table[table[[cost, score]].notna().all(axis=1)].sort_values(cost, kind="stable")
    return rows[pareto(list(zip(rows[cost], rows[score], strict=True)))]


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points (cost, gain) are not dominated: no other has as much gain at a lower
    cost, or more gain at the same cost.
    """
    return [
        not any(
            other_cost <= cost and other_gain >= gain and (other_cost, other_gain) != (cost, gain)
            for other_cost, other_gain in points
        )
        for cost, gain in points
    ]


def ends(table: pd.DataFrame, score: str) -> tuple[str, str]:
    """Return the names of the columns with the ends of the interval of `score`."""
    named = f"{score}_low" in table
    return (f"{score}_low", f"{score}_high") if named else ("low", "high")


def _axes(ax: Axes | None, height: float) -> Axes:
    from matplotlib import pyplot  # noqa: PLC0415 - half a second

    if ax is not None:
        return ax
    return pyplot.subplots(figsize=(_WIDTH, height), dpi=_DPI, layout="constrained")[1]


def _finished(axes: Axes, series: int) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    if series > 1:  # beside the axes, where it covers nothing
        axes.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return axes


def _scored_rows(table: pd.DataFrame, score: str, *named: str) -> pd.DataFrame:
    """Return the rows whose `score` is known, with the columns `named` as text."""
    rows = table[table[score].notna()]
    return rows.assign(**{name: rows[name].astype(str) for name in named})


def _values(column: pd.Series) -> list[str]:
    return list(dict.fromkeys(column))


def _looks(column: pd.Series) -> list[Look]:
    """Return a look for each value: that of the strategy where the column names runs, else by the
    place in the alphabet, so that charts of the same values have the same colours.
    """
    names = _values(column)
    if column.name in _OF_RUNS:
        return looks(names)
    by_name = {look.name: look for look in looks(sorted(names), [str(column.name)] * len(names))}
    return [by_name[name] for name in names]


def _series(
    frame: pd.DataFrame, score: str, colour: str, order: str | None = None
) -> Iterator[tuple[Look, pd.DataFrame, list[pd.Series]]]:
    """Yield the look of each value of the column `colour`, its rows, sorted by the column `order`,
    and how far the ends of intervals are from the means; rounding may put one on the wrong side.
    """
    low, high = ends(frame, score)
    for look in _looks(frame[colour]):
        rows = frame[frame[colour] == look.name]
        rows = rows if order is None else rows.sort_values(order)
        yield look, rows, [(rows[score] - rows[low]).clip(0), (rows[high] - rows[score]).clip(0)]


def _shift(number: int, count: int) -> float:
    return (number - (count - 1) / 2) * _BAND / max(count, 1)


def log_axis(axes: Axes, values: Sequence[float]) -> None:
    """Give `axes` a logarithmic horizontal axis with ticks at `values` alone."""
    axes.set_xscale("log")
    ticks = sorted({*values})
    axes.set_xticks(ticks, [f"{tick:,.10g}" for tick in ticks])
    axes.minorticks_off()
