"""Charts of a comparison: differences by question type, and means by type and run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.records.run import Run
from eval.rendering.numbers import interval, signed
from eval.rendering.palette import BLUE, GREY, MARKERS, VERMILION
from eval.rendering.tables import type_name
from eval.stats.interval import scope
from eval.summary.contrast import Row
from eval.summary.measures import types_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Panel = tuple[str, Sequence[Row]]  # title and rows
_COLOURS = {"better": BLUE, "worse": VERMILION, "no difference shown": GREY}
_DPI = 150


def forest(panels: Sequence[Panel], runs: Sequence[Run], path: Path) -> None:
    """Write a forest plot of differences to the first run: a panel per measure, a line per type."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - takes half a second

    others = runs[1:]
    heights = [1 + 0.42 * len(rows) * max(len(others), 1) for _, rows in panels]
    figure = _figure(9.5, sum(heights) + 1.2)
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
    for (title, rows), axes in zip(panels, grid[:, 0], strict=True):
        axes.axvline(0, color="black", linewidth=1)
        differences = [one.difference for row in rows for one in row.contrasts]
        edge = 1.08 * max(max(-one.low, one.high) for one in differences) or 0.01
        for y, row in enumerate(rows):
            for i, one in enumerate(row.contrasts):
                at = y + (i - (len(others) - 1) / 2) * 0.8 / len(others)
                ends, colour = one.difference, _COLOURS[one.verdict]
                axes.plot([ends.low, ends.high], [at, at], color=colour, linewidth=2)
                marker = MARKERS[i % len(MARKERS)]
                axes.plot(ends.value, at, marker, color=colour, markersize=7)
                label = interval(ends, form=signed)
                axes.text(edge * 1.03, at, label, va="center", fontsize=9, color=colour)
        axes.set_xlim(-edge, edge)
        axes.set_yticks(range(len(rows)), _labels(rows, runs))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_title(title, loc="left", fontsize=11)
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    over = scope(row.clusters for _, rows in panels for row in rows)
    label = f"difference to {runs[0].label}, 95% interval {over}"
    grid[-1, 0].set_xlabel(label, wrap=True)
    shapes = [
        Line2D([], [], color="#333333", marker=MARKERS[i % len(MARKERS)], ls="", label=run.label)
        for i, run in enumerate(others)
    ]
    colours = [Line2D([], [], color=c, linewidth=3, label=name) for name, c in _COLOURS.items()]
    figure.legend(handles=shapes + colours, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=_DPI)


def _labels(rows: Sequence[Row], runs: Sequence[Run]) -> list[str]:
    types = types_of(runs)
    return [f"{type_name(row.type, types)}\nn = {row.n}" for row in rows]


def heatmap(panels: Sequence[Panel], runs: Sequence[Run], path: Path) -> None:
    """Write a heat map of means by type and run: a panel per measure, light is high."""
    heights = [1 + 0.5 * len(rows) for _, rows in panels]
    figure = _figure(3.2 + 1.9 * len(runs), sum(heights) + 0.8)
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
    for (title, rows), axes in zip(panels, grid[:, 0], strict=True):
        means = [[mean.value for mean in row.means] for row in rows]
        top = max(map(max, means)) or 1.0
        axes.imshow(means, cmap="cividis", vmin=0, vmax=top, aspect="auto")
        for y, row in enumerate(rows):
            for x, mean in enumerate(row.means):
                colour = "black" if mean.value > 0.55 * top else "white"
                text = f"{mean.value:.3f}\n[{mean.low:.3f}, {mean.high:.3f}]"
                axes.text(x, y, text, ha="center", va="center", color=colour, fontsize=9)
        axes.set_xticks(range(len(runs)), [run.label.replace(" ", "\n", 1) for run in runs])
        axes.set_yticks(range(len(rows)), _labels(rows, runs))
        axes.tick_params(length=0)
        axes.set_title(title, loc="left", fontsize=11, wrap=True)
    figure.savefig(path, dpi=_DPI)


def _figure(width: float, height: float) -> Figure:
    """Return a figure without pyplot, which would look for a screen."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - takes half a second

    return Figure(figsize=(width, height), layout="constrained")
