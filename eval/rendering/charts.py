"""Charts of reports as inline SVG, readable at a width of 360 pixels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.metrics.stats.interval import Interval
from eval.rendering import svg
from eval.rendering.numbers import interval
from eval.rendering.palette import Look

_WIDTH, _LEFT, _RIGHT = 360.0, 44.0, 350.0
_TALL = 1.06  # height of the axis by the highest value
_WIDE_LOG = 8  # ratio of values from which the axis is logarithmic
_QUARTERS = (0, 0.25, 0.5, 0.75, 1)
_ENDS = (0.25, 0.5, 1.0)  # of the axis of a share
_ROOM = 14  # of a point's name: a chart grows with its points
Points = Sequence[tuple[float, Interval]]
_LETTER, _HEIGHT = 5.7, 11.0  # mean width of a letter, and height of a line, of 11 pixels
_MARK = 6.5  # half of a mark's width, with a gap
_DISTANCES = (9.0, 16.0, 26.0, 38.0, 52.0)  # from a point to its name
_DIRECTIONS = ((1, 0), (1, -1), (1, 1), (-1, 0), (-1, -1), (-1, 1), (0, -1), (0, 1))
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A point of the name of `look`; `front`: on the Pareto front. Ends are equal where there is no
    interval.
    """

    look: Look
    x: Interval
    y: Interval
    front: bool


def scatter(title: str, points: Sequence[ChartPoint], names: tuple[str, str]) -> str:
    """Return named points with whiskers, and the Pareto front (low x, high y) as a line of steps.

    The horizontal axis is logarithmic where its values differ widely, with a place for 0.
    """
    bottom = 215.0 + _ROOM * max(len(points) - 4, 0)
    x = _across(points)
    least, most = min(p.y.low for p in points), max(p.y.high for p in points)
    start = least - 0.15 * (most - least)  # from 0, unless the points are far above it
    y = svg.Scale(start if least > 0.4 * most else 0.0, most * _TALL or 1.0, bottom, 22)
    across = svg.log_ticks(x.low, x.high) if x.log else svg.linear_ticks(x.low, x.high)
    titles = (names[0] + (" (log scale)" if x.log else ""), names[1])
    parts = svg.frame(x, y, (across, svg.linear_ticks(y.low, y.high)), titles)
    front = sorted((p for p in points if p.front), key=lambda p: p.x.value)
    steps = [f"M{x(p.x.value):.1f},{y(p.y.value):.1f}" for p in front[:1]]
    steps += [f"H{x(p.x.value):.1f}V{y(p.y.value):.1f}" for p in front[1:]]
    if front:
        parts.append(f'<path class="f" d="{"".join(steps)}H{_RIGHT:.1f}"/>')
    at = [(x(p.x.value), y(p.y.value)) for p in points]
    for p, (left, top) in zip(points, at, strict=True):
        kind = f"w s{p.look.colour}"
        parts.append(svg.line(x(p.x.low), top, x(p.x.high), top, kind))
        parts.append(svg.line(left, y(p.y.low), left, y(p.y.high), kind))
    labels = places(at, [p.look.name for p in points], (_LEFT + 2, 14, _WIDTH - 2, bottom - 2))
    for (left, top), place in zip(at, labels, strict=True):
        if place is not None and place.far:
            end = min(max(left, place.x), place.x + place.width)
            parts.append(svg.line(left, top, end, place.y, "l"))
    for p, (left, top), place in zip(points, at, labels, strict=True):
        tip = f"{p.look.name}: {names[0]} {interval(p.x)}, {names[1]} {interval(p.y)}"
        parts.append(svg.mark(left, top, p.look, tip))
        if place is not None:
            parts.append(svg.label(place.x, place.y + 3.5, p.look.name, kind="t halo"))
    return svg.picture(_WIDTH, bottom + 35, title, parts)


def _across(points: Sequence[ChartPoint]) -> svg.Scale:
    """Return the horizontal scale of points: logarithmic from a ratio of _WIDE_LOG."""
    above = [p.x for p in points if p.x.value > 0]
    lows = [max(mean.low, mean.value / 3) for mean in above]  # an interval may reach below 0
    highs = [mean.high for mean in above]
    if above and max(highs) / min(lows) >= _WIDE_LOG:
        zero = None if len(above) == len(points) else _LEFT + 6
        start = _LEFT if zero is None else zero + 26
        return svg.Scale(min(lows) / 1.3, max(highs) * 1.3, start, _RIGHT, log=True, zero=zero)
    return svg.Scale(0.0, max(highs, default=0.0) * 1.08 or 1.0, _LEFT, _RIGHT)


def dots(
    title: str,
    rows: Sequence[tuple[str, Sequence[Interval | None]]],
    looks: Sequence[Look],
    across: str,
    *,
    shares: bool = False,
) -> str:
    """Return one row per name with a mark and interval for each look (or None), and a line at 0.

    `shares`: values are of 0 to 1, and so is the axis, or up to a half or a quarter of it.
    """
    used = [i for i, column in enumerate(zip(*(v for _, v in rows), strict=True)) if any(column)]
    intervals = [value for _, values in rows for value in values if value is not None]
    low = min(0.0, *(value.low for value in intervals))
    high = max(0.0, *(value.high for value in intervals))
    high, low = (high * _TALL or 0.01), low * _TALL
    if shares:
        high = next((end for end in _ENDS if high <= end), 1.0)
    step = 21 + 11 * len(used)
    foot = 26 + step * len(rows)
    x = svg.Scale(low, high, 12, _RIGHT)
    parts = [*svg.grid(x, svg.linear_ticks(low, high), (18, foot), foot)]
    parts += [svg.line(x(0), 18, x(0), foot, "a"), svg.label(181, foot + 28, across, "middle", "n")]
    for r, (name, values) in enumerate(rows):
        top = 32 + r * step
        parts.append(svg.label(14, top, name, kind="t halo"))
        for i, value in enumerate(values):
            if value is None:
                continue
            at = top + 10 + used.index(i) * 11
            tip = f"{name}, {looks[i].name}: {interval(value)}"
            parts.append(svg.line(x(value.low), at, x(value.high), at, f"w s{looks[i].colour}"))
            parts.append(svg.mark(x(value.value), at, looks[i], tip))
    return svg.picture(_WIDTH, foot + 36, title, parts)


def curves(
    title: str,
    series: Sequence[Sequence[tuple[float, float]]],
    looks: Sequence[Look],
    names: tuple[str, str],
) -> str:
    """Return cumulative curves of (value, share), on a logarithmic axis of values above 0."""
    values = [value for points in series for value, _ in points]
    low, high = min(values) / 1.1, max(values) * 1.1
    x, y = svg.Scale(low, high, _LEFT, _RIGHT, log=True), svg.Scale(0, 1, 215, 22)
    parts = svg.frame(x, y, (svg.log_ticks(low, high), _QUARTERS), names)
    for look, points in zip(looks, series, strict=True):
        path = "L".join(f"{x(value):.1f},{y(share):.1f}" for value, share in points)
        parts.append(f'<path class="c s{look.colour}" d="M{path}"/>')
    for i, (look, points) in enumerate(zip(looks, series, strict=True)):
        median = min(points, key=lambda point: abs(point[1] - 0.5))
        at = 0.5 if len(series) == 1 else 0.2 + 0.6 * i / (len(series) - 1)  # marks of like curves
        place = min(points, key=lambda point: abs(point[1] - at))
        tip = f"{look.name}: median {median[0]:,.1f}"
        parts.append(svg.mark(x(place[0]), y(place[1]), look, tip))
    return svg.picture(_WIDTH, 250, title, parts)


def trends(
    title: str, series: Sequence[Points], looks: Sequence[Look], names: tuple[str, str]
) -> str:
    """Return a line with intervals for each series of points (x, value), x above 0 and ascending on
    a logarithmic axis.
    """
    across = sorted({x for points in series for x, _ in points})
    x = svg.Scale(across[0], across[-1], _LEFT + 12, _RIGHT - 12, log=True)
    high = max(value.high for points in series for _, value in points)
    y = svg.Scale(0, high * _TALL or 1.0, 215, 22)
    parts = svg.frame(x, y, (across, svg.linear_ticks(0, y.high)), names)
    for i, (points, look) in enumerate(zip(series, looks, strict=True)):
        aside = 3 * (i - (len(series) - 1) / 2)  # intervals side by side
        at = [(x(place) + aside, value) for place, value in points]
        path = "L".join(f"{left:.1f},{y(value.value):.1f}" for left, value in at)
        kind = f"s{look.colour}"
        parts.append(f'<path class="c {kind}" d="M{path}"/>')
        for (left, value), (place, _) in zip(at, points, strict=True):
            parts.append(svg.line(left, y(value.low), left, y(value.high), f"w {kind}"))
            tip = f"{look.name}, {svg.short(place)}: {interval(value)}"
            parts.append(svg.mark(left, y(value.value), look, tip))
    return svg.picture(_WIDTH, 250, title, parts)


def stacked(
    title: str, rows: Sequence[tuple[str, Sequence[float]]], parts_of: Sequence[str]
) -> str:
    """Return one bar from 0 to 1 per name, split into parts; negative parts are not drawn."""
    x = svg.Scale(0, 1, 12, _RIGHT)
    foot = 20 + 34 * len(rows)
    parts = [*svg.grid(x, _QUARTERS, (12, foot), foot)]
    for r, (name, values) in enumerate(rows):
        top, at = 24 + 34 * r, 0.0
        parts.append(svg.label(14, top, name, kind="t halo"))
        for i, value in enumerate(values):
            width = max(min(value, 1 - at), 0.0)
            tip = f"{name}: {parts_of[i]} {value:.3f}"
            parts.append(svg.bar(x(at), top + 4, x(at + width) - x(at), i, tip))
            at += width
    return svg.picture(_WIDTH, foot + 20, title, parts)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name starts, and its middle height; `far`: too far from its point to need no line."""

    x: float
    y: float
    width: float
    far: bool

    @property
    def rectangle(self) -> Rectangle:
        """The area of the name."""
        return self.x, self.y - _HEIGHT / 2, self.x + self.width, self.y + _HEIGHT / 2


def places(
    points: Sequence[tuple[float, float]], names: Sequence[str], inside: Rectangle
) -> list[Place | None]:
    """Return a place for each name near its point and `inside`, or None where there is no room.

    Points with the fewest neighbours come last, as they have the most room.
    """
    marks = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in points]
    result: list[Place | None] = [None] * len(points)
    taken = list(marks)
    crowd = [sum(abs(x - a) < 60 and abs(y - b) < 30 for a, b in points) for x, y in points]
    for i in sorted(range(len(points)), key=lambda i: -crowd[i]):
        width = _LETTER * len(names[i])
        for place in _candidates(*points[i], width):
            area = left, top, right, low = place.rectangle
            room = (
                left >= inside[0] and top >= inside[1] and right <= inside[2] and low <= inside[3]
            )
            if room and not any(
                left < other[2] and other[0] < right and top < other[3] and other[1] < low
                for other in taken
            ):
                result[i] = place
                taken.append(area)
                break
    return result


def _candidates(x: float, y: float, width: float) -> Iterator[Place]:
    for distance in _DISTANCES:
        for across, down in _DIRECTIONS:
            gap = distance if not down else distance * 0.75
            left = x + across * gap - (width if across < 0 else 0 if across else width / 2)
            yield Place(left, y + down * gap * 1.1, width, distance > _DISTANCES[0])
