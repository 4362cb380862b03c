"""Parts of charts as inline SVG: scales, axes, marks and labels; colours are CSS classes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from eval.rendering.palette import MARKERS, Look

_TICKS = 5  # of an axis, about
_SIZE = 4.5  # half of a mark's width
# Corners of the marks that are polygons, in units of _SIZE.
_PLUS = [(-0.4, -1.3), (0.4, -1.3), (0.4, -0.4), (1.3, -0.4), (1.3, 0.4), (0.4, 0.4)]
_PLUS += [(-x, -y) for x, y in _PLUS]
_TURNED = [((x - y) * 0.75, (x + y) * 0.75) for x, y in _PLUS]
_STAR = [
    (math.sin(i * math.pi / 5) * size, -math.cos(i * math.pi / 5) * size)
    for i, size in enumerate([1.6, 0.65] * 5)
]
_CORNERS: dict[str, Sequence[tuple[float, float]]] = {
    "s": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "D": [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)],
    "^": [(0, -1.3), (1.2, 0.9), (-1.2, 0.9)],
    "v": [(0, 1.3), (1.2, -0.9), (-1.2, -0.9)],
    "<": [(-1.3, 0), (0.9, -1.2), (0.9, 1.2)],
    ">": [(1.3, 0), (-0.9, -1.2), (-0.9, 1.2)],
    "P": _PLUS,
    "X": _TURNED,
    "*": _STAR,
}


@dataclass(frozen=True, slots=True)
class Scale:
    """A map from values (`low` to `high`) to coordinates (`start` to `end`), linear or `log`.

    `zero`: coordinate of 0 on a logarithmic scale, outside of `start` to `end`.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    zero: float | None = None

    def __call__(self, value: float) -> float:
        """Return the coordinate of `value`, clipped to the scale."""
        if self.zero is not None and value <= 0:
            return self.zero
        clipped = min(max(value, self.low), self.high)
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, clipped))
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def linear_ticks(low: float, high: float) -> list[float]:
    """Return about _TICKS round values: multiples of 1, 2 or 5 times a power of 10."""
    if high <= low:
        return [low]
    rough = (high - low) / _TICKS
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


def mark(x: float, y: float, look: Look, tip: str) -> str:
    """Return the mark of a series, of its shape and colour, with the tooltip `tip`."""
    kind = MARKERS[look.marker]
    shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_SIZE}"/>'
    if kind in _CORNERS:
        corners = (f"{x + a * _SIZE:.1f},{y + b * _SIZE:.1f}" for a, b in _CORNERS[kind])
        shape = f'<polygon points="{" ".join(corners)}"/>'
    return f'<g class="m s{look.colour}"><title>{escape(tip)}</title>{shape}</g>'


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


def grid(x: Scale, ticks: Sequence[float], ends: tuple[float, float], foot: float) -> Iterator[str]:
    """Yield a vertical line between `ends` at each of the `ticks`, and its label below `foot`."""
    for value in ticks:
        yield line(x(value), ends[0], x(value), ends[1], "g")
        yield label(x(value), foot + 13, short(value), "middle")


def frame(
    x: Scale, y: Scale, ticks: tuple[Sequence[float], Sequence[float]], names: tuple[str, str]
) -> list[str]:
    """Return grid, tick labels and names of two axes; `y.start` is the bottom of the chart."""
    parts, left = [], x.start if x.zero is None else x.zero - _SIZE
    for value in ticks[1]:
        parts.append(line(left, y(value), x.end, y(value), "g"))
        parts.append(label(left - 5, y(value) + 3.5, short(value), "end"))
    across = ticks[0] if x.zero is None else [*ticks[0], 0]
    parts += grid(x, across, (y.start, y.end), y.start)
    parts.append(line(x.start, y.start, x.end, y.start, "a"))
    parts.append(label((left + x.end) / 2, y.start + 28, names[0], "middle", "n"))
    parts.append(label(left - 30, y.end - 8, names[1], "start", "n"))
    return parts


def bar(x: float, y: float, width: float, part: int, tip: str) -> str:
    """Return a horizontal bar of the colour of `part`, with the tooltip `tip`."""
    return (
        f'<rect class="p{part}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="12">'
        f"<title>{escape(tip)}</title></rect>"
    )
