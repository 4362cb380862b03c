"""Charts of reports as inline SVG, readable at a width of 360 pixels; colours are CSS classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from eval.rendering.numbers import interval
from eval.rendering.palette import PALETTE
from eval.stats.interval import Interval

SERIES = len(PALETTE)  # a further series starts again with the first colour and mark
_SIZE = 4.5  # half of a mark's width
_WIDTH, _LEFT, _RIGHT = 360.0, 44.0, 350.0
_TALL = 1.06  # height of the axis by the highest value
_WIDE_LOG = 20  # ratio of values from which the axis is logarithmic


@dataclass(frozen=True, slots=True)
class Scale:
    """A map from values (`low` to `high`) to coordinates (`start` to `end`), linear or `log`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the coordinate of `value`, clipped to the scale."""
        clipped = min(max(value, self.low), self.high)
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, clipped))
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def linear_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return about `about` round values: multiples of 1, 2 or 5 times a power of 10."""
    if high <= low:
        return [low]
    rough = (high - low) / about
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.75)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return the powers of 10 from `low` to `high`, with 2 and 5 times them on a short range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if high < 300 * low else (1,)
    ticks = [m * 10.0**p for p in powers for m in factors]
    return [value for value in ticks if low * 0.999 <= value <= high * 1.001]


def short(value: float) -> str:
    """Return the label of a tick: 2k, 0.25, 5."""
    if abs(value) >= 1000:
        return f"{value / 1000:g}k"
    return f"{value:g}"


def mark(x: float, y: float, series: int, tip: str) -> str:
    """Return the mark of a series, which differs in shape and colour, with the tooltip `tip`."""
    s, kind = _SIZE, series % SERIES
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s}"/>',
        f'<rect x="{x - s:.1f}" y="{y - s:.1f}" width="{2 * s}" height="{2 * s}"/>',
        _polygon(x, y, [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)]),
        _polygon(x, y, [(0, -1.3), (1.2, 0.9), (-1.2, 0.9)]),
        _polygon(x, y, [(0, 1.3), (1.2, -0.9), (-1.2, -0.9)]),
        _polygon(x, y, [(-1.3, -0.4), (1.3, -0.4), (1.3, 0.4), (-1.3, 0.4)]),
    )
    return f'<g class="m s{kind}"><title>{escape(tip)}</title>{shapes[kind]}</g>'


def _polygon(x: float, y: float, corners: Sequence[tuple[float, float]]) -> str:
    points = " ".join(f"{x + a * _SIZE:.1f},{y + b * _SIZE:.1f}" for a, b in corners)
    return f'<polygon points="{points}"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a straight line of CSS class `kind`."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def label(x: float, y: float, text: str, anchor: str = "start", kind: str = "t") -> str:
    """Return text at a point; `anchor`: start, middle or end."""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def picture(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    """Return an SVG element with `parts`, which scales to the width available."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">'
        + "".join(parts)
        + "</svg>"
    )


def frame(
    x: Scale,
    y: Scale,
    ticks: tuple[Sequence[float], Sequence[float]],
    names: tuple[str, str],
    write: Callable[[float], str] = short,
) -> list[str]:
    """Return grid, tick labels and names of two axes; `y.start` is the bottom of the chart."""
    parts = []
    for value in ticks[1]:
        at = y(value)
        parts.append(line(x.start, at, x.end, at, "g"))
        parts.append(label(x.start - 5, at + 3.5, write(value), "end"))
    for value in ticks[0]:
        at = x(value)
        parts.append(line(at, y.start, at, y.end, "g"))
        parts.append(label(at, y.start + 13, write(value), "middle"))
    parts.append(line(x.start, y.start, x.end, y.start, "a"))
    parts.append(label((x.start + x.end) / 2, y.start + 28, names[0], "middle", "n"))
    parts.append(label(x.start - 30, y.end - 8, names[1], "start", "n"))
    return parts


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A named point; `front`: on the Pareto front. Ends are equal where there is no interval."""

    name: str
    x: Interval
    y: Interval
    front: bool


def scatter(title: str, points: Sequence[ChartPoint], names: tuple[str, str]) -> str:
    """Return points with whiskers, and the Pareto front (low x, high y) as a line of steps."""
    lows = [max(p.x.low, p.x.value / 3) for p in points]  # an interval may reach below 0
    highs = [p.x.high for p in points]
    log = min(lows) > 0 and max(highs) / min(lows) >= _WIDE_LOG
    if log:
        low, high = min(lows) / 1.3, max(highs) * 1.3
    else:
        low, high = 0.0, max(highs) * 1.08 or 1.0
    x = Scale(low, high, _LEFT, _RIGHT, log)
    y = Scale(0, max(p.y.high for p in points) * _TALL or 1.0, 215, 22)
    across = log_ticks(low, high) if log else linear_ticks(low, high)
    titles = (names[0] + (" (log scale)" if log else ""), names[1])
    parts = frame(x, y, (across, linear_ticks(0, y.high)), titles)
    front = sorted((p for p in points if p.front), key=lambda p: p.x.value)
    steps = [f"M{x(p.x.value):.1f},{y(p.y.value):.1f}" for p in front[:1]]
    steps += [f"H{x(p.x.value):.1f}V{y(p.y.value):.1f}" for p in front[1:]]
    if front:
        parts.append(f'<path class="f" d="{"".join(steps)}H{_RIGHT:.1f}"/>')
    for i, p in enumerate(points):
        at = (x(p.x.value), y(p.y.value))
        kind = f"w s{i % SERIES}"
        parts.append(line(x(max(p.x.low, low)), at[1], x(p.x.high), at[1], kind))
        parts.append(line(at[0], y(p.y.low), at[0], y(p.y.high), kind))
        tip = f"{p.name}: {names[0]} {interval(p.x)}, {names[1]} {interval(p.y)}"
        parts.append(mark(*at, i, tip))
    return picture(_WIDTH, 250, title, parts)


def dots(
    title: str, rows: Sequence[tuple[str, Sequence[Interval | None]]], names: tuple[str, str]
) -> str:
    """Return one row per name with a mark and interval per series (or None), and a line at 0."""
    used = [i for i, column in enumerate(zip(*(v for _, v in rows), strict=True)) if any(column)]
    known = [value for _, values in rows for value in values if value is not None]
    low = min(0.0, *(value.low for value in known))
    high = max(0.0, *(value.high for value in known))
    high, low = (high * _TALL or 0.01), low * _TALL
    step = 21 + 11 * len(used)
    foot = 26 + step * len(rows)
    x = Scale(low, high, 12, _RIGHT)
    parts = []
    for tick in linear_ticks(low, high):
        parts.append(line(x(tick), 18, x(tick), foot, "g"))
        parts.append(label(x(tick), foot + 13, short(tick), "middle"))
    parts += [line(x(0), 18, x(0), foot, "a"), label(181, foot + 28, names[0], "middle", "n")]
    for r, (name, values) in enumerate(rows):
        top = 32 + r * step
        parts.append(label(14, top, name, kind="t halo"))
        for i, value in enumerate(values):
            if value is None:
                continue
            at = top + 10 + used.index(i) * 11
            tip = f"{name}, {names[1]} {i + 1}: {interval(value)}"
            parts.append(line(x(value.low), at, x(value.high), at, f"w s{i % SERIES}"))
            parts.append(mark(x(value.value), at, i, tip))
    return picture(_WIDTH, foot + 36, title, parts)


def curves(
    title: str, series: Sequence[Sequence[tuple[float, float]]], names: tuple[str, str]
) -> str:
    """Return cumulative curves of (value, share), on a logarithmic axis of values above 0."""
    values = [value for points in series for value, _ in points]
    low, high = min(values) / 1.1, max(values) * 1.1
    x, y = Scale(low, high, _LEFT, _RIGHT, log=True), Scale(0, 1, 215, 22)
    parts = frame(x, y, (log_ticks(low, high), [0, 0.25, 0.5, 0.75, 1]), names)
    for i, points in enumerate(series):
        path = "L".join(f"{x(value):.1f},{y(share):.1f}" for value, share in points)
        parts.append(f'<path class="c s{i % SERIES}" d="M{path}"/>')
        median = min(points, key=lambda point: abs(point[1] - 0.5))
        parts.append(mark(x(median[0]), y(0.5), i, f"median {median[0]:,.1f}"))
    return picture(_WIDTH, 250, title, parts)


def trends(
    title: str,
    series: Sequence[Sequence[tuple[float, Interval]]],
    names: tuple[str, str],
) -> str:
    """Return a line with intervals for each series of points (x, value), x above 0 and ascending on
    a logarithmic axis. A series without points keeps its colour. At least one has a point.
    """
    across = sorted({x for points in series for x, _ in points})
    x = Scale(across[0], across[-1], _LEFT + 10, _RIGHT - 10, log=True)
    high = max(value.high for points in series for _, value in points)
    y = Scale(0, high * _TALL or 1.0, 215, 22)
    parts = frame(x, y, (across, linear_ticks(0, y.high)), names)
    drawn = [i for i, points in enumerate(series) if points]
    for i in drawn:
        aside = 4 * (drawn.index(i) - (len(drawn) - 1) / 2)  # intervals side by side
        places = [(x(at) + aside, value) for at, value in series[i]]
        path = "L".join(f"{at:.1f},{y(value.value):.1f}" for at, value in places)
        kind = f"s{i % SERIES}"
        parts.append(f'<path class="c {kind}" d="M{path}"/>')
        for (at, value), (across_at, _) in zip(places, series[i], strict=True):
            parts.append(line(at, y(value.low), at, y(value.high), f"w {kind}"))
            parts.append(mark(at, y(value.value), i, f"{short(across_at)}: {interval(value)}"))
    return picture(_WIDTH, 250, title, parts)


def stacked(
    title: str, rows: Sequence[tuple[str, Sequence[float]]], parts_of: Sequence[str]
) -> str:
    """Return one bar from 0 to 1 per name, split into parts; negative parts are not drawn."""
    x = Scale(0, 1, 12, _RIGHT)
    foot = 20 + 34 * len(rows)
    parts = []
    for value in (0, 0.25, 0.5, 0.75, 1):
        parts.append(line(x(value), 12, x(value), foot, "g"))
        parts.append(label(x(value), foot + 13, short(value), "middle"))
    for r, (name, values) in enumerate(rows):
        top, at = 24 + 34 * r, 0.0
        parts.append(label(14, top, name, kind="t halo"))
        for i, value in enumerate(values):
            width = max(min(value, 1 - at), 0.0)
            tip = f"{name}: {parts_of[i]} {value:.3f}"
            parts.append(_bar(x(at), top + 4, x(at + width) - x(at), i, tip))
            at += width
    return picture(_WIDTH, foot + 20, title, parts)


def _bar(x: float, y: float, width: float, part: int, tip: str) -> str:
    return (
        f'<rect class="p{part}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="12">'
        f"<title>{escape(tip)}</title></rect>"
    )
