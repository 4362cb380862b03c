"""Whether a judge's verdicts go with how close the answers are to the gold answers."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean

from eval.answers.contents import Contents
from eval.answers.values import mean_verdict

APART = 0.65  # chance that a passing verdict goes with the better answer
_DEVIATIONS = 2  # beyond which verdicts are not by chance against the answers
_PAIRS = 99  # answers of each verdict that are compared
_PASS = 0.5


def separation(contents: Contents, columns: Sequence[str], answer: str) -> float | None:
    """Return the chance that an answer that the verdicts in `columns` pass, on average, is closer
    to the gold answer than one that they fail; None unless both occur.
    """
    passed, failed = _by_verdict(contents, columns, answer)
    if not passed or not failed:
        return None
    wins = sum((one > two) + 0.5 * (one == two) for one in passed for two in failed)
    return wins / (len(passed) * len(failed))


def against(contents: Contents, columns: Sequence[str], answer: str) -> str | None:
    """Return how the verdicts in `columns` go against the answers; None if they do not.

    A few verdicts may do so by chance: the standard deviation is that of the Mann-Whitney test.
    """
    apart = separation(contents, columns, answer)
    if apart is None or apart > 1 - APART:
        return None
    passed, failed = map(len, _by_verdict(contents, columns, answer))
    if 0.5 - apart <= _DEVIATIONS * sqrt((passed + failed + 1) / (12 * passed * failed)):
        return None
    return (
        f"the verdicts in {', '.join(columns):.120} go against the answers: one that passes is "
        f"closer to its gold answer than one that fails in {apart:.0%} of the pairs"
    )


def _by_verdict(
    contents: Contents, columns: Sequence[str], answer: str
) -> tuple[list[float], list[float]]:
    """Return how close some of the answers that pass are to the gold, and some that fail."""
    passed: list[float] = []
    failed: list[float] = []
    rows = zip(*(contents.columns[column] for column in columns), strict=True)
    for cells, close in zip(rows, contents.close(answer), strict=True):
        means = [mean for one in cells if (mean := mean_verdict(one)) is not None]
        if means and close is not None:
            (passed if fmean(means) > _PASS else failed).append(close)
    return passed[:_PAIRS], failed[:_PAIRS]
