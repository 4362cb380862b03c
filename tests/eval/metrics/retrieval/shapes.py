"""Generated rankings of many shapes: short and long, with and without evidence, of small stores."""

from __future__ import annotations

import random

from eval.metrics.retrieval import Judged


def judged_of(ranked: str, relevant: str, size: int | None = None) -> Judged:
    """A ranking of one-letter ids."""
    return Judged(tuple(ranked), tuple(relevant), size)


def shapes(count: int = 400, seed: int = 7) -> dict[str, Judged]:
    """Rankings by question id; every evidence set has units that the ranking may lack."""
    draw = random.Random(seed)  # noqa: S311 - shapes, not secrets
    found = {}
    for number in range(count):
        store = [f"c:D{i // 7}:{i}" for i in range(draw.choice([1, 2, 5, 30, 130, 400]))]
        ranked = draw.sample(store, draw.randint(1, min(len(store), 120)))
        relevant = set(draw.sample(store, draw.randint(1, min(len(store), 25))))
        if draw.random() < 0.3:
            relevant = relevant - set(ranked) or {"c:D99:1"}  # nothing is found
        elif draw.random() < 0.3:
            relevant = set(ranked[: len(relevant)])  # everything comes first
        tokens = tuple(30 * (i + 1) for i in range(len(ranked)))
        found[f"c/{number}"] = Judged(tuple(ranked), sorted(relevant), len(store), tokens)
    return found
