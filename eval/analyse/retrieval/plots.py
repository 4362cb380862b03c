"""Charts of recall curves as PNG and SVG, the same files on every day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.metrics.stats.interval import Interval
from eval.rendering.figures import figure, names
from eval.rendering.palette import GREY, Look, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    path = folder / chart.name
    with figure(path, 5.0) as drawn:
        axes = drawn.subplots()
        for line, look in zip(lines, looks([line.label for line in lines]), strict=True):
            _curve(axes, line, look)
        axes.set_xscale("log")
        places = [x for line in lines for x, _ in (*line.points, *line.marks)]
        ticks = _ticks(min(places), max(places))
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.set(xlabel=chart.across, ylabel=chart.up, ylim=(0, 1.02), title=chart.title)
        if chart.marks:
            hollow: dict[str, Any] = {
                "markerfacecolor": "none",
                "markeredgecolor": GREY,
                "markersize": 9,
            }
            axes.plot([], [], "o", label=chart.marks, **hollow)
        axes.legend(loc="lower right")
    return names(path)


def _curve(axes: Axes, line: Line, look: Look) -> None:
    """Draw a curve with its intervals as a band, and its marks hollow."""
    across = [x for x, _ in line.points]
    means = [mean.value for _, mean in line.points]
    lows, highs = ([getattr(mean, end) for _, mean in line.points] for end in ("low", "high"))
    axes.plot(across, means, color=look.hex, marker=look.symbol, ms=look.size, label=line.label)
    axes.fill_between(across, lows, highs, color=look.hex, alpha=0.1, lw=0)
    hollow: dict[str, Any] = {
        "markerfacecolor": "none",
        "markeredgecolor": look.hex,
        "markersize": 9,
    }
    marked = [x for x, _ in line.marks], [mean.value for _, mean in line.marks]
    axes.plot(*marked, linestyle="none", marker=look.symbol, markeredgewidth=1.2, **hollow)


def _ticks(low: float, high: float) -> list[int]:
    """Return 1, 2 and 5 times the powers of 10 from `low` to `high`."""
    ticks = [m * 10**power for power in range(8) for m in (1, 2, 5)]
    return [tick for tick in ticks if low <= tick <= high]
