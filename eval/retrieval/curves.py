"""Curves of recall: over the cutoff, and over the tokens of the context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.rendering.palette import MARKERS, PALETTE
from eval.stats.interval import Interval

_DPI = 150
_FORMATS = ("png", "svg")


@dataclass(frozen=True, slots=True)
class Point:
    """Mean recall of a run on a question type: at a cutoff of `at` ranks, which is a context of
    `tokens` on average (None: unknown), or within a budget of `at` tokens.
    """

    run: str
    type: str
    at: int
    tokens: float | None
    recall: Interval


@dataclass(frozen=True, slots=True)
class Chart:
    """What a chart shows: `name` of its files, title, names of the axes, and `x` of a point."""

    name: str
    title: str
    across: str
    up: str
    x: Callable[[Point], float | None]


def draw(
    chart: Chart, lines: Sequence[Point], marks: Sequence[Point], runs: Sequence[str], folder: Path
) -> list[str]:
    """Write NAME.png and NAME.svg into `folder`: a line with its interval for each of `runs`, and
    `marks` as open marks. Returns the names of the files.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - takes half a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.subplots()
    for i, run in enumerate(runs):
        look = {"color": PALETTE[i % len(PALETTE)], "marker": MARKERS[i % len(MARKERS)]}
        points = [(x, p.recall) for p in lines if p.run == run and (x := chart.x(p)) is not None]
        across = [x for x, _ in points]
        lows, highs = [r.low for _, r in points], [r.high for _, r in points]
        axes.plot(across, [r.value for _, r in points], label=run, markersize=5, **look)
        axes.fill_between(across, lows, highs, color=look["color"], alpha=0.12, linewidth=0)
        budgets = [p for p in marks if p.run == run]
        axes.plot(
            *([p.at for p in budgets], [p.recall.value for p in budgets]),
            **(look | {"linestyle": "none", "markerfacecolor": "none", "markersize": 9}),
        )
    axes.set_xscale("log")
    ticks = _ticks([x for p in lines if (x := chart.x(p)) is not None] + [p.at for p in marks])
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 1.02)
    axes.set(xlabel=chart.across, ylabel=chart.up)
    axes.set_title(chart.title, loc="left", fontsize=11)
    axes.grid(color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False)
    names = [f"{chart.name}.{ending}" for ending in _FORMATS]
    with rc_context({"svg.hashsalt": chart.name}):  # the same ids on every day
        for name, facts in zip(names, ({}, {"Date": None, "Title": chart.title}), strict=True):
            figure.savefig(folder / name, dpi=_DPI, metadata=facts)
    return names


def _ticks(values: Sequence[float]) -> list[int]:
    """Return 1, 2 and 5 times the powers of 10 from the least to the greatest of `values`."""
    low, high = min(values), max(values)
    ticks = [m * 10**power for power in range(8) for m in (1, 2, 5)]
    return [tick for tick in ticks if low <= tick <= high]
