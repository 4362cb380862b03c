"""The charts of a report as small SVG pictures, readable at 360 pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from eval.rendering.axes import (
    SERIES,
    Scale,
    frame,
    label,
    line,
    linear_ticks,
    log_ticks,
    mark,
    picture,
    short,
)

_WIDTH, _LEFT, _RIGHT = 360.0, 44.0, 350.0
_TALL = 1.06  # room above the highest value
_WIDE_LOG = 20  # from this ratio on values are spread over a logarithmic axis


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """`0.312 [0.280, 0.344]`."""
        return f"{self.value:,.3f} [{self.low:,.3f}, {self.high:,.3f}]"


@dataclass(frozen=True, slots=True)
class Point:
    """A named point; `x` or `y` without an interval has equal ends."""

    name: str
    x: Interval
    y: Interval
    front: bool


def scatter(title: str, points: Sequence[Point], names: tuple[str, str]) -> str:
    """Points with whiskers, and the Pareto front as a line of steps: low x and high y are good."""
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
    told = (names[0] + (" (log scale)" if log else ""), names[1])
    parts = frame(x, y, (across, linear_ticks(0, y.high)), told)
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
        parts.append(mark(*at, i, f"{p.name}: {names[0]} {p.x}, {names[1]} {p.y}"))
    return picture(_WIDTH, 250, title, parts)


def dots(
    title: str, rows: Sequence[tuple[str, Sequence[Interval | None]]], names: tuple[str, str]
) -> str:
    """A row a name, a mark with its interval a series (as many in each row); a line at 0."""
    used = [i for i, own in enumerate(zip(*(v for _, v in rows), strict=True)) if any(own)]
    known = [value for _, values in rows for value in values if value is not None]
    low = min(0.0, *(value.low for value in known))
    high = max(0.0, *(value.high for value in known))
    high, low = (high * _TALL or 0.01), low * _TALL
    step = 21 + 11 * len(used)
    foot = 26 + step * len(rows)
    x = Scale(low, high, 12, _RIGHT)
    parts = []
    for value in linear_ticks(low, high):
        parts.append(line(x(value), 18, x(value), foot, "g"))
        parts.append(label(x(value), foot + 13, short(value), "middle"))
    parts += [line(x(0), 18, x(0), foot, "a"), label(181, foot + 28, names[0], "middle", "n")]
    for r, (name, values) in enumerate(rows):
        top = 32 + r * step
        parts.append(label(14, top, name, kind="t halo"))
        for i, found in enumerate(values):
            if found is None:
                continue
            at = top + 10 + used.index(i) * 11
            parts.append(line(x(found.low), at, x(found.high), at, f"w s{i % SERIES}"))
            parts.append(mark(x(found.value), at, i, f"{name}, {names[1]} {i + 1}: {found}"))
    return picture(_WIDTH, foot + 36, title, parts)


def curves(
    title: str, series: Sequence[Sequence[tuple[float, float]]], names: tuple[str, str]
) -> str:
    """Lines of (value, share) that rise from 0 to 1, over a logarithmic axis of values above 0."""
    values = [value for own in series for value, _ in own]
    low, high = min(values) / 1.1, max(values) * 1.1
    x, y = Scale(low, high, _LEFT, _RIGHT, log=True), Scale(0, 1, 215, 22)
    parts = frame(x, y, (log_ticks(low, high), [0, 0.25, 0.5, 0.75, 1]), names)
    for i, own in enumerate(series):
        path = "L".join(f"{x(value):.1f},{y(share):.1f}" for value, share in own)
        parts.append(f'<path class="c s{i % SERIES}" d="M{path}"/>')
        median = min(own, key=lambda point: abs(point[1] - 0.5))
        parts.append(mark(x(median[0]), y(0.5), i, f"median {median[0]:,.1f}"))
    return picture(_WIDTH, 250, title, parts)


def stacked(
    title: str, rows: Sequence[tuple[str, Sequence[float]]], parts_of: Sequence[str]
) -> str:
    """Bars from 0 to 1 cut into parts, a row a name; negative parts are drawn as none."""
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
