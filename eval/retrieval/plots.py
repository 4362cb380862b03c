"""Charts of recall curves as PNG and SVG, the same files on every day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.rendering.palette import GREY, MARKERS, PALETTE
from eval.stats.interval import Interval

_DPI = 150
_FORMATS = ("png", "svg")
_DASHES = ("-", "--", "-.", ":")  # where colours and markers start again
Points = Sequence[tuple[float, Interval]]  # place on the horizontal axis, and mean


@dataclass(frozen=True, slots=True)
class Line:
    """The curve of a run by its `label`, and `marks` beside it."""

    label: str
    points: Points
    marks: Points = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Texts of a chart: `name` of its files, title, names of the axes, and what `marks` mean."""

    name: str
    title: str
    across: str
    up: str
    marks: str = ""


def draw(chart: Chart, lines: Sequence[Line], folder: Path) -> list[str]:
    """Write NAME.png and NAME.svg into `folder` and return their names: curves with 95% intervals
    over a logarithmic axis, and open marks.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - takes half a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.subplots()
    for i, line in enumerate(lines):
        look: dict[str, Any] = {
            "color": PALETTE[i % len(PALETTE)],
            "marker": MARKERS[i % len(MARKERS)],
        }
        across = [x for x, _ in line.points]
        lows, highs = ([getattr(mean, end) for _, mean in line.points] for end in ("low", "high"))
        axes.plot(
            across,
            [mean.value for _, mean in line.points],
            label=line.label,
            markersize=5,
            linestyle=_DASHES[i // len(PALETTE) % len(_DASHES)],
            **look,
        )
        axes.fill_between(across, lows, highs, color=look["color"], alpha=0.12, lw=0)
        axes.plot(
            [x for x, _ in line.marks],
            [mean.value for _, mean in line.marks],
            linestyle="none",
            markerfacecolor="none",
            markersize=9,
            **look,
        )
    axes.set_xscale("log")
    places = [x for line in lines for x, _ in (*line.points, *line.marks)]
    ticks = _ticks(min(places), max(places))
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel=chart.across, ylabel=chart.up, ylim=(0, 1.02))
    axes.set_title(chart.title, loc="left", fontsize=11)
    axes.grid(color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if chart.marks:
        axes.plot([], [], "o", color=GREY, markerfacecolor="none", markersize=9, label=chart.marks)
    axes.legend(loc="lower right", frameon=False)
    names = [f"{chart.name}.{ending}" for ending in _FORMATS]
    with rc_context({"svg.hashsalt": chart.name}):  # else the ids in an SVG are random
        for name, about in zip(names, ({}, {"Date": None, "Title": chart.title}), strict=True):
            figure.savefig(folder / name, dpi=_DPI, metadata=about)
    return names


def _ticks(low: float, high: float) -> list[int]:
    """Return 1, 2 and 5 times the powers of 10 from `low` to `high`."""
    ticks = [m * 10**power for power in range(8) for m in (1, 2, 5)]
    return [tick for tick in ticks if low <= tick <= high]
