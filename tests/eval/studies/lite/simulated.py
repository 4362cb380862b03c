"""Simulated answers: systems of known ability, questions of known slope and difficulty."""

from __future__ import annotations

import numpy as np

from eval.datasets.subset import Floats
from eval.datasets.types import SourceFile
from eval.studies.lite.answers import AnsweredSystem
from eval.studies.lite.item_response import logistic

TYPES = ("multi_hop", "temporal", "open_domain", "single_hop")


def simulate(
    systems: int, questions: int, seed: int, slope_spread: float = 0.3
) -> tuple[Floats, Floats, Floats, Floats]:
    """Answers (S, Q), abilities (S), slopes (Q), difficulties (Q) of a 2PL world."""
    rng = np.random.default_rng(seed)
    abilities = np.linspace(-1.0, 2.5, systems)
    slopes = np.exp(rng.normal(0, slope_spread, questions))
    difficulties = rng.normal(0, 1.3, questions)
    chance = logistic(slopes * (abilities[:, None] - difficulties))
    return (rng.random(chance.shape) < chance).astype(float), abilities, slopes, difficulties


def simulated_answers(systems: int = 8, each: int = 10, seed: int = 0) -> AnsweredSystem:
    """8 systems of 4 families and 2 publishers; `each` questions of 4 types in 3 conversations."""
    types = [type_ for type_ in TYPES for _ in range(3 * each)]
    conversations = [f"c{i}" for _ in TYPES for i in range(3) for _ in range(each)]
    verdicts, *_ = simulate(systems, len(types), seed)
    rng = np.random.default_rng(seed + 1)
    f1 = np.clip(0.6 * verdicts + rng.normal(0.1, 0.1, verdicts.shape), 0, 1)
    return AnsweredSystem(
        ids=tuple(f"{c}/{i}" for i, c in enumerate(conversations)),
        types=tuple(types),
        conversations=tuple(conversations),
        systems=tuple(f"s{i}" for i in range(systems)),
        families=tuple(f"f{i // 2}" for i in range(systems)),
        publishers=tuple(f"p{i // 4}" for i in range(systems)),
        verdicts=verdicts,
        f1=f1,
        files=(SourceFile("simulated.jsonl", 1, "0" * 64),),
    )
