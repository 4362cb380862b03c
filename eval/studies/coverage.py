"""`python -m eval.studies.coverage`: how often a 95% interval contains the truth, simulated.

Conversations differ by a normal effect, answers are right or wrong; the truth is known, so the
share of intervals that contain it can be counted. The interval that memsys uses is compared with
Wald's interval, which treats all questions as independent, and with the two-stage bootstrap.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eval.cli import parser
from eval.rendering.tables import plain
from eval.stats.interval import ClusterBootstrap, normal_quantile, wilson


class SimulatedWorld(NamedTuple):
    """Conversations, mean questions in each, chance of a right answer, its standard deviation."""

    conversations: int
    questions: int
    chance: float
    spread: float


class Coverage(NamedTuple):
    """Share of intervals that contain the truth, by method."""

    cluster: float
    two_stage: float
    wald: float


# LoCoMo has 10 conversations with 154 questions of types 1-4 each, 10 of type 3; the sample has 3.
WORLDS = (
    SimulatedWorld(10, 154, 0.3, 0.0),
    SimulatedWorld(10, 154, 0.3, 0.05),
    SimulatedWorld(10, 154, 0.3, 0.1),
    SimulatedWorld(10, 28, 0.3, 0.05),
    SimulatedWorld(10, 10, 0.3, 0.05),
    SimulatedWorld(3, 77, 0.3, 0.05),
)


def coverage(world: SimulatedWorld, trials: int, seed: int) -> Coverage:
    """Coverage of each interval over `trials` data sets drawn from `world`."""
    rng = np.random.default_rng(seed)
    covered = np.zeros(3)
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
        covered += [low <= world.chance <= high for low, high in intervals]
    return Coverage(*(float(share) for share in covered / trials))


def wilson_coverage(n: int, chance: float, trials: int, seed: int) -> float:
    """Coverage of Wilson's interval for `n` independent answers."""
    drawn = np.random.default_rng(seed).binomial(n, chance, size=trials)
    intervals = [wilson(int(right), n) for right in drawn]
    return float(np.mean([low <= chance <= high for low, high in intervals]))


def _draw(world: SimulatedWorld, rng: np.random.Generator) -> tuple[list[float], list[str]]:
    least, most = round(0.6 * world.questions), round(1.4 * world.questions) + 1
    sizes = rng.integers(least, most, world.conversations)
    drawn = world.chance + rng.normal(0, world.spread, world.conversations)
    values: list[float] = []
    clusters: list[str] = []
    for i, (size, chance) in enumerate(zip(sizes, np.clip(drawn, 0, 1), strict=True)):
        values.extend((rng.random(size) < chance).astype(float).tolist())
        clusters.extend([str(i)] * int(size))
    return values, clusters


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print; return the exit code."""
    options = parser(
        "studies.coverage",
        "Simulate data sets with a known score and print how often a nominal 95% interval contains "
        "it: the interval of memsys, the two-stage bootstrap, and Wald's.",
    )
    options.add_argument(
        "--trials", type=int, default=2000, help="data sets per row; default: 2000"
    )
    options.add_argument("--seed", type=int, default=0, help="default: 0")
    given = options.parse_args(arguments)
    header = ["conversations", "questions each", "spread", "memsys", "two-stage", "Wald"]
    rows = []
    for world in WORLDS:
        shares = coverage(world, given.trials, given.seed)
        setting = [str(world.conversations), str(world.questions), f"{world.spread:.2f}"]
        rows.append([*setting, *(f"{share:.1%}" for share in shares)])
    print(f"Coverage of a nominal 95% interval, {given.trials} data sets per row\n")
    print(plain(header, rows))
    for n, chance in ((50, 0.1), (446, 0.5)):
        share = wilson_coverage(n, chance, given.trials, given.seed)
        print(f"Wilson, {n} independent answers, {chance:.0%} right: {share:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
