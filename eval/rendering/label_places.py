"""Places for the names of points in a chart, such that no name covers a point or another name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LETTER, _HEIGHT = 5.7, 11.0  # mean width of a letter, and height of a line, of 11 pixels
_MARK = 6.5  # half of a mark's width, with a gap
_DISTANCES = (9.0, 16.0, 26.0, 38.0, 52.0)  # from a point to its name
_DIRECTIONS = ((1, 0), (1, -1), (1, 1), (-1, 0), (-1, -1), (-1, 1), (0, -1), (0, 1))
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


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
    found: list[Place | None] = [None] * len(points)
    taken = list(marks)
    crowd = [sum(abs(x - a) < 60 and abs(y - b) < 30 for a, b in points) for x, y in points]
    for i in sorted(range(len(points)), key=lambda i: -crowd[i]):
        width = _LETTER * len(names[i])
        for place in _candidates(*points[i], width):
            area = place.rectangle
            if _within(area, inside) and not any(_meet(area, other) for other in taken):
                found[i] = place
                taken.append(area)
                break
    return found


def _candidates(x: float, y: float, width: float) -> Iterator[Place]:
    for distance in _DISTANCES:
        for across, down in _DIRECTIONS:
            gap = distance if not down else distance * 0.75
            left = x + across * gap - (width if across < 0 else 0 if across else width / 2)
            yield Place(left, y + down * gap * 1.1, width, distance > _DISTANCES[0])


def _within(area: Rectangle, inside: Rectangle) -> bool:
    left, top, right, bottom = area
    return left >= inside[0] and top >= inside[1] and right <= inside[2] and bottom <= inside[3]


def _meet(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
