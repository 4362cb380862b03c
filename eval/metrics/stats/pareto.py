"""The Pareto front of points with a cost and a gain."""

from __future__ import annotations

from collections.abc import Sequence


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points (cost, gain) are not dominated: no other has as much gain at a lower
    cost, or more gain at the same cost.
    """
    return [
        not any(
            other_cost <= cost and other_gain >= gain and (other_cost, other_gain) != (cost, gain)
            for other_cost, other_gain in points
        )
        for cost, gain in points
    ]
