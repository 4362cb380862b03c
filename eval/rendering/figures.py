"""The style of pictures, which are written as PNG and SVG: the same files on every day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 8.3  # inches: at the 830 pixels of a README, a point of type is 1.4 pixels
FORMATS = ("png", "svg")
_DPI = 200
_STYLE: dict[str, Any] = {
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 6,
    "lines.markeredgecolor": "white",
    "lines.markeredgewidth": 0.6,
}


@contextmanager
def figure(path: Path, height: float, width: float = WIDTH) -> Iterator[Figure]:
    """Yield a figure, of inches, and write it at the end as PATH.png and PATH.svg."""
    from matplotlib import rc_context  # noqa: PLC0415 - takes half a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    settings: Any = _STYLE | {"svg.hashsalt": path.name}
    with rc_context(settings):  # else ids in an SVG are random
        drawn = Figure(figsize=(width, height), layout="constrained")
        yield drawn
        for ending in FORMATS:
            about = {"Date": None} if ending == "svg" else {}
            file = path.with_name(f"{path.name}.{ending}")
            drawn.savefig(file, dpi=_DPI, metadata=about)


def names(path: Path) -> list[str]:
    """Return the names of the files that `figure` writes."""
    return [f"{path.name}.{ending}" for ending in FORMATS]


def log_axis(axes: Axes, values: Sequence[float]) -> None:
    """Give `axes` a logarithmic horizontal axis with ticks at `values` alone."""
    axes.set_xscale("log")
    ticks = sorted({*values})
    axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    axes.minorticks_off()


def reach(means: Any, lows: Any, highs: Any) -> list[Any]:
    """Return the distances of the ends of intervals (data frame columns) from their means; rounding
    may put an end on the wrong side.
    """
    return [(means - lows).clip(0), (highs - means).clip(0)]
