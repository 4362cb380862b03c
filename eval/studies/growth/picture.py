"""The picture of a study of growth: recall against the number of memories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.metrics.stats.interval import Interval
from eval.rendering.figures import figure, log_axis
from eval.rendering.palette import looks
from eval.studies.growth.report import half_life, loss
from eval.studies.growth.series import Series

_COLUMNS = 5
_OTHERS = "#d5d9de"
_LOW = 0.35  # recall at which a curve would cross the words below it
_BELOW, _ABOVE = (0.04, 0.04, "left", "bottom"), (0.98, 0.97, "right", "top")
_Points = Sequence[tuple[float, Interval]]


def draw(series: Sequence[Series], path: Path) -> None:
    """Draw a panel for each strategy, in which the others are grey and its curve is dashed, as
    PATH.png and PATH.svg.
    """
    points = [_points(one) for one in series]
    rows = -(-len(series) // _COLUMNS)
    with figure(path, 0.7 + 1.95 * rows) as drawn:
        panels: Any = drawn.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False)
        for panel in list(panels.flat)[len(series) :]:
            panel.set_visible(False)
        shown = looks([one.strategy for one in series])
        for panel, one, own, look in zip(panels.flat, series, points, shown, strict=False):
            for other in points:
                panel.plot([x for x, _ in other], [y.value for _, y in other], color=_OTHERS, lw=1)
            across, up = [x for x, _ in own], [y.value for _, y in own]
            reach = [[y.value - y.low for _, y in own], [y.high - y.value for _, y in own]]
            style: dict[str, Any] = {"color": look.hex, "marker": look.symbol}
            panel.errorbar(across, up, yerr=np.clip(reach, 0, None), ms=look.size, lw=1.2, **style)
            if one.decay is not None:
                curve = 2.0 ** (-one.decay.rate.value * np.log2(np.array(across) / across[0]))
                panel.plot(across, one.decay.start * curve, "--", color=look.hex, lw=0.9)
            title = one.strategy.replace("interaction_", "interaction_\n")
            panel.set_title(title, fontsize=8.5, color=look.hex, weight="bold")
            text = f"lost per doubling:\n{loss(one)}\nhalf-life: {half_life(one)}"
            text = text.replace(" [", "\n[").replace("%\n[", "% [").replace(" (ex", "\n(ex")
            left, height, ha, va = _ABOVE if min(up) < _LOW else _BELOW
            style = {"transform": panel.transAxes, "fontsize": 6.5, "ha": ha, "va": va}
            panel.text(left, height, text, **style)
            panel.set(ylim=(0, 1.04))
            log_axis(panel, _ticks([x for of in points for x, _ in of]))
        label = "memories in the store (log scale); half-life in doublings of the store"
        drawn.supxlabel(label, fontsize=9.5)
        drawn.supylabel("recall@10, 95% interval", fontsize=9.5)


def _ticks(values: Sequence[float]) -> list[float]:
    """Return the powers of ten within `values`, or all of a narrow range."""
    marks = [10.0**power for power in range(9)]
    inside = [one for one in marks if min(values) <= one <= max(values)]
    return inside if len(inside) > 1 else sorted({*values})


def _points(one: Series) -> _Points:
    found = [(run.mean("memories"), run.score(run.recall)) for run in one.runs]
    return [(at.value, up) for at, up in found if at is not None and up is not None]
