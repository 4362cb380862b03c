"""`python -m eval.studies.standin`: agreement of the judge gold_recall with LLM judges.

Leave-one-system-out: the threshold for a system is the one with the best kappa on the others.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from eval.cli import code_of, parser
from eval.datasets.files import shared_folder
from eval.judges.gold_recall import gold_recall
from eval.judges.recorded import read_judged
from eval.judges.verdicts import majority
from eval.metrics.stats.agreement import auc, cohen_interval, cohen_kappa
from eval.metrics.stats.interval import Interval
from eval.rendering.terminal import plain
from eval.studies.lite.answers import PROBES, system_of
from memsys.core.errors import InputError

_THRESHOLDS = np.arange(1, 101) / 100


@dataclass(frozen=True)
class JudgedSystem:
    """Judged answers of one file, shape (n,): gold recall, the judge's verdict, conversation."""

    name: str
    recall: NDArray[np.float64]
    passed: NDArray[np.bool_]
    conversations: list[str]


def read_system(path: Path) -> JudgedSystem | None:
    """Read one file; None if it has no verdicts. Raises InputError if it cannot be read."""
    judged = [one for one in read_judged(path) if one.verdicts]
    if not judged:
        return None
    return JudgedSystem(
        path.name.partition(".")[0],
        np.array([gold_recall(one.answer, one.gold) for one in judged]),
        np.array([majority(one.verdicts) for one in judged]),
        [one.conversation for one in judged],
    )


def best_threshold(systems: Sequence[JudgedSystem]) -> float:
    """Return the lowest threshold of .01, .02, ..., 1 with the highest Cohen's kappa overall."""
    recall = np.concatenate([system.recall for system in systems])
    passed = np.concatenate([system.passed for system in systems])
    ours = recall[None, :] >= _THRESHOLDS[:, None]
    both, ours_only = (ours & passed).sum(axis=1), (ours & ~passed).sum(axis=1)
    judge_only = passed.sum() - both
    neither = len(passed) - both - ours_only - judge_only
    kappas = cohen_kappa(np.column_stack([both, ours_only, judge_only, neither]).astype(float))
    return float(_THRESHOLDS[int(np.nanargmax(kappas))])


def left_out(systems: Sequence[JudgedSystem]) -> Mapping[str, float]:
    """Best threshold for each system, chosen on the others; runs of one system go together."""
    names = [system_of(one.name) for one in systems]
    if len(set(names)) < 2:
        raise InputError("standin: a threshold is chosen on other systems; name two or more")
    named = list(zip(systems, names, strict=True))
    return {
        one.name: best_threshold([other for other, system in named if system != name])
        for one, name in named
    }


def pooled(
    systems: Sequence[JudgedSystem], thresholds: Mapping[str, float]
) -> tuple[Interval, float, int]:
    """Return kappa over all answers with a threshold per system, AUC, and the number of answers."""
    ours = np.concatenate([one.recall >= thresholds[one.name] for one in systems])
    passed = np.concatenate([one.passed for one in systems])
    names = [name for one in systems for name in one.conversations]
    area = auc(np.concatenate([one.recall for one in systems]), passed)
    return cohen_interval(ours.tolist(), passed.tolist(), names), area, len(passed)


def show(systems: Sequence[JudgedSystem]) -> str:
    """Table of the systems, and the agreement over all of them."""
    thresholds = left_out(systems)
    rows, errors = [], []
    for one in systems:
        kappa, area, n = pooled([one], thresholds)
        passed, ours = one.passed.mean(), (one.recall >= thresholds[one.name]).mean()
        errors.append(abs(ours - passed))
        figures = [f"{thresholds[one.name]:.2f}", f"{kappa.value:.3f}", f"{area:.3f}"]
        rows.append([one.name, f"{n:,}", f"{passed:.1%}", f"{ours:.1%}", *figures])
    header = ["system", "n", "J", "gold_recall", "threshold", "kappa", "AUC"]
    kappa, area, n = pooled(systems, thresholds)
    return (
        f"{plain(header, rows)}\n\n{n:,} judged answers, threshold of each chosen on the other "
        f"systems:\nkappa {kappa.value:.3f} [{kappa.low:.3f}, {kappa.high:.3f}], AUC {area:.3f}"
        f"; shares passed differ from J by {100 * float(np.mean(errors)):.1f} points on average"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code: 2 for bad input, 130 after Ctrl-C."""
    options = parser(
        "studies.standin",
        "Agreement of the judge gold_recall with the verdicts of LLM judges: kappa, AUC and pass "
        "rates per system, the threshold of each chosen on the other systems.",
    )
    folder = shared_folder() / "locomo" / "answers"
    text = f"judged answers (default: {folder}/*)"
    options.add_argument("files", nargs="*", type=Path, metavar="FILE", help=text)
    files = options.parse_args(arguments).files or sorted(folder.glob("*.gz"))
    return code_of(lambda: _measure(files))


def _measure(files: Sequence[Path]) -> None:
    systems = [read_system(path) for path in tqdm(files, unit="file", disable=None)]
    judged = [system for system in systems if system is not None]
    real = [system for system in judged if not system.name.startswith(PROBES)]
    print(show(real))
    if len(judged) > len(real):
        print("\nWith the deliberately wrong answers:\n\n" + show(judged))
        threshold = best_threshold(real)
        probes = [one for one in judged if one not in real]
        shares = [f"{one.name} {np.mean(one.recall >= threshold):.1%}" for one in probes]
        print(f"\nOver all systems the best threshold is {threshold:.2f}; it passes", end=" ")
        print(", ".join(shares))


if __name__ == "__main__":
    sys.exit(main())
