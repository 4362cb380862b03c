"""`python -m eval.studies.coverage`: how often a 95% interval contains the truth, simulated.

Conversations differ by a normal effect, answers are right or wrong; the truth is known, so the
share of intervals that contain it can be counted. The interval that memsys uses is compared with
Wald's interval, which treats all questions as independent, and with the two-stage bootstrap. Of
fewer than five conversations the interval is over questions: its truth is the score on these
conversations, and the score on all conversations, which it does not generalise to, is beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eval.cli import parser
from eval.metrics.stats.interval import FEWEST, ClusterBootstrap, normal_quantile, wilson
from eval.rendering.terminal import plain


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


class FewCoverage(NamedTuple):
    """Share of intervals that contain the score on these conversations, and that on all."""

    these: float
    all: float


# LoCoMo has 10 conversations with 154 questions of types 1-4 each, 10 of type 3.
WORLDS = (
    SimulatedWorld(10, 154, 0.3, 0.0),
    SimulatedWorld(10, 154, 0.3, 0.05),
    SimulatedWorld(10, 154, 0.3, 0.1),
    SimulatedWorld(10, 28, 0.3, 0.05),
    SimulatedWorld(10, 10, 0.3, 0.05),
)
# The sample has 3 conversations with about 77 questions each.
FEW = tuple(
    SimulatedWorld(conversations, questions, 0.3, 0.1)
    for conversations in (1, 2, 3, 4)
    for questions in (5, 20, 77)
)


def coverage(world: SimulatedWorld, trials: int, seed: int) -> Coverage:
    """Coverage of each interval over `trials` data sets drawn from `world`."""
    rng = np.random.default_rng(seed)
    covered = np.zeros(3)
    for trial in range(trials):
        values, clusters, _ = _draw(world, rng)
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


def coverage_of_few(world: SimulatedWorld, trials: int, seed: int) -> FewCoverage:
    """Coverage of the interval over `trials` data sets of fewer than five conversations."""
    rng = np.random.default_rng(seed)
    covered = np.zeros(2)
    for _ in range(trials):
        values, clusters, chance = _draw(world, rng)
        found = ClusterBootstrap(clusters, seed=0).mean(values)
        if found is None:
            raise ValueError("a world without questions")
        covered += [found.low <= truth <= found.high for truth in (chance, world.chance)]
    return FewCoverage(*(float(share) for share in covered / trials))


def wilson_coverage(n: int, chance: float, trials: int, seed: int) -> float:
    """Coverage of Wilson's interval for `n` independent answers."""
    drawn = np.random.default_rng(seed).binomial(n, chance, size=trials)
    intervals = [wilson(int(right), n) for right in drawn]
    return float(np.mean([low <= chance <= high for low, high in intervals]))


def _draw(world: SimulatedWorld, rng: np.random.Generator) -> tuple[list[float], list[str], float]:
    """Return values and conversations of the questions, and their mean chance of a right answer."""
    least, most = round(0.6 * world.questions), round(1.4 * world.questions) + 1
    sizes = rng.integers(least, most, world.conversations)
    drawn = world.chance + rng.normal(0, world.spread, world.conversations)
    chances = np.clip(drawn, 0, 1)
    values: list[float] = []
    clusters: list[str] = []
    for i, (size, chance) in enumerate(zip(sizes, chances, strict=True)):
        values.extend((rng.random(size) < chance).astype(float).tolist())
        clusters.extend([str(i)] * int(size))
    return values, clusters, float(np.average(chances, weights=sizes))


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
    header = [*header[:3], "these conversations", "all conversations"]
    rows = []
    for world in FEW:
        few = coverage_of_few(world, given.trials, given.seed)
        setting = [str(world.conversations), str(world.questions), f"{world.spread:.2f}"]
        rows.append([*setting, *(f"{share:.1%}" for share in few)])
    print(f"\nFewer than {FEWEST} conversations, coverage of the score on\n")
    print(plain(header, rows) + "\n")
    for n, chance in ((50, 0.1), (446, 0.5)):
        share = wilson_coverage(n, chance, given.trials, given.seed)
        print(f"Wilson, {n} independent answers, {chance:.0%} right: {share:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
