"""`python -m eval.studies.coverage`: how often a nominal 95% interval holds the truth.

Conversations differ by a normal effect, questions are right or wrong: the truth is known, so the
share of intervals that hold it can be counted. Wald's interval, which takes every question for
independent, and the two-stage bootstrap are printed beside the one that memsys uses.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.rendering.tables import plain
from eval.stats.interval import ClusterBootstrap, normal_quantile, wilson


class World(NamedTuple):
    """Conversations, mean questions in each, chance of a right answer, and how far it varies."""

    conversations: int
    questions: int
    chance: float
    spread: float


class Coverage(NamedTuple):
    """Share of intervals that held the truth, by method."""

    cluster: float
    two_stage: float
    wald: float


# LoCoMo has 10 conversations with 154 questions of types 1-4 each, 10 of type 3; the sample has 3.
WORLDS = (
    World(10, 154, 0.3, 0.0),
    World(10, 154, 0.3, 0.05),
    World(10, 154, 0.3, 0.1),
    World(10, 28, 0.3, 0.05),
    World(10, 10, 0.3, 0.05),
    World(3, 77, 0.3, 0.05),
)


def coverage(world: World, trials: int, seed: int) -> Coverage:
    """Coverage of three intervals over `trials` data sets drawn from `world`."""
    rng = np.random.default_rng(seed)
    held = np.zeros(3)
    for trial in range(trials):
        values, clusters = _draw(world, rng)
        bootstrap = ClusterBootstrap(clusters, seed=trial, resamples=500)
        ours = bootstrap.mean(values)
        nested = bootstrap.mean(values, two_stage=True)
        if ours is None or nested is None:
            raise ValueError("a world without questions")
        mean = ours.value
        reach = normal_quantile(0.975) * (mean * (1 - mean) / len(values)) ** 0.5
        intervals = ((ours.low, ours.high), (nested.low, nested.high), (mean - reach, mean + reach))
        held += [low <= world.chance <= high for low, high in intervals]
    return Coverage(*(float(share) for share in held / trials))


def wilson_coverage(n: int, chance: float, trials: int, seed: int) -> float:
    """Coverage of Wilson's interval for `n` independent answers."""
    drawn = np.random.default_rng(seed).binomial(n, chance, size=trials)
    return float(
        np.mean([low <= chance <= high for low, high in (wilson(int(k), n) for k in drawn)])
    )


def _draw(world: World, rng: np.random.Generator) -> tuple[list[float], list[str]]:
    sizes = rng.integers(
        round(0.6 * world.questions), round(1.4 * world.questions) + 1, world.conversations
    )
    chances: NDArray[np.float64] = np.clip(
        world.chance + rng.normal(0, world.spread, world.conversations), 0, 1
    )
    values: list[float] = []
    clusters: list[str] = []
    for i, (size, chance) in enumerate(zip(sizes, chances, strict=True)):
        values.extend((rng.random(size) < chance).astype(float).tolist())
        clusters.extend([str(i)] * int(size))
    return values, clusters


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(prog="python -m eval.studies.coverage", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="data sets a row (default 2000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    header = ["conversations", "questions each", "spread", "memsys", "two-stage", "Wald"]
    rows = []
    for world in WORLDS:
        found = coverage(world, options.trials, options.seed)
        figures = [f"{share:.1%}" for share in found]
        rows.append(
            [str(world.conversations), str(world.questions), f"{world.spread:.2f}", *figures]
        )
    print(f"Coverage of a nominal 95% interval, {options.trials} data sets a row\n")
    print(plain(header, rows))
    for n, chance in ((50, 0.1), (446, 0.5)):
        share = wilson_coverage(n, chance, options.trials, options.seed)
        print(f"Wilson, {n} independent answers, {chance:.0%} right: {share:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
