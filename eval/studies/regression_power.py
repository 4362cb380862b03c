"""`python -m eval.studies.regression_power`: error rates of the rule for paired pins, simulated."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from eval.cli import parser
from eval.metrics.registry import pinned
from eval.regress.by_question import Scored, pair
from eval.rendering.terminal import plain
from eval.summary.contrast import NOT_SHOWN

_SHARES = {"multi_hop": 0.18, "temporal": 0.21, "open_domain": 0.06, "single_hop": 0.55}
_ROWS = ((3, 77, 0.0, 200), (3, 77, 0.15, 100), (10, 154, 0.0, 100), (10, 154, 0.05, 100))
Truth = Sequence[tuple[str, str, float]]  # conversation, type and chance of a right answer


def answered(rng: np.random.Generator, truth: Truth, drop: float = 0.0) -> dict[str, Scored]:
    """Simulate one run: each question is right with its chance in `truth` minus `drop`.

    F1 is .3 to 1 for right answers and up to .2 for wrong ones, BLEU-1 is proportional to it, one
    answer in 16 abstains, scores of the retrieval are constant.
    """
    scored = {}
    for i, (conversation, type_, chance) in enumerate(truth):
        right = float(rng.random() < max(0.0, chance - drop))
        f1 = round(float(rng.uniform(0.3, 1) if right else rng.uniform(0, 0.2)), 6)
        of_rankings = dict.fromkeys(pinned(), 0.5)  # retrieval has not changed
        scores = {"f1": f1, **of_rankings, "bleu1": round(f1 * 0.8, 6)}
        scores |= {"abstained": float(rng.random() < 1 / 16), "judge": right}
        scored[f"{conversation}/{i}"] = Scored(conversation, type_, scores)
    return scored


def rates(conversations: int, each: int, drop: float, pairs: int) -> tuple[float, float]:
    """Simulate `pairs` pairs of runs, the second with `drop`, and return two shares of them.

    The share with any 95% interval that excludes 0, and the share in which the rule reports a
    difference. The chance of a right answer is uniform per question, drawn again for each pair.
    """
    names, weights = list(_SHARES), list(_SHARES.values())
    any_interval = by_rule = 0
    for seed in range(pairs):
        rng = np.random.default_rng(seed)
        truth = [
            (f"c{c}", str(rng.choice(names, p=weights)), float(rng.beta(1, 1)))
            for c in range(conversations)
            for _ in range(each)
        ]
        rows = pair(answered(rng, truth), answered(rng, truth, drop))
        contrasts = [row.contrasts[0] for row in rows]
        outside = [one.difference.low > 0 or one.difference.high < 0 for one in contrasts]
        any_interval += any(outside)
        by_rule += any(one.verdict != NOT_SHOWN for one in contrasts)
    return any_interval / pairs, by_rule / pairs


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print; return the exit code."""
    parser(
        "studies.regression_power",
        "Simulate pairs of live runs with and without a drop in accuracy, and print how often any "
        "interval and how often the rule for paired pins reports a difference. Takes some minutes.",
    ).parse_args(arguments)
    rows = []
    for conversations, each, drop, pairs in _ROWS:
        shares = [f"{share:.1%}" for share in rates(conversations, each, drop, pairs)]
        rows.append([str(conversations), str(each), f"{drop:.2f}", str(pairs), *shares])
    header = ["conversations", "questions each", "drop", "pairs", "any interval", "rule"]
    print(plain(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
