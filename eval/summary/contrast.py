"""Means of each run and differences to the first, by question type, with a verdict each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eval.stats.interval import ClusterBootstrap, Interval, normal_quantile
from eval.stats.paired import Difference, compare, holm, mcnemar
from eval.summary.measures import Measure, lower_is_better
from eval.summary.shared import Shared

LEVEL = 0.05
_POWER = 0.8
Verdict = Literal["better", "worse", "no difference shown"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """A run minus the first run. `p_holm` is over all comparisons shown; `p_mcnemar` is None
    unless every score is 0 or 1. `needed`: see needed_difference; 0 where all scores are equal.
    """

    difference: Interval
    p: float
    p_holm: float
    p_mcnemar: float | None
    effect: float
    needed: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One type of a measure: a mean for each run, a contrast for each but the first."""

    key: str
    type: str
    n: int
    clusters: int
    means: tuple[Interval, ...]
    contrasts: tuple[Contrast, ...]


def contrast(measures: Sequence[tuple[Measure, Shared]], seed: int) -> list[list[Row]]:
    """The rows of each measure, of types that have questions, in the measure's order."""
    drafts = [
        [
            _Draft(measure.key, type_, shared, chosen, seed)
            for type_ in measure.types
            if (chosen := shared.of(type_)).any()
        ]
        for measure, shared in measures
    ]
    raw = [found.p for rows in drafts for draft in rows for found in draft.found]
    adjusted = iter(holm(raw))
    return [[draft.row(adjusted, len(raw)) for draft in rows] for rows in drafts]


def needed_difference(detectable: float, null_error: float, comparisons: int) -> float:
    """Least true difference that the rule of `verdict` would find with a power of about 80%.

    Both halves of the rule must hold, so the greater of two: what makes the interval exclude 0
    (`detectable`), and (z_{1 - .05 / 2m} + z_.80) * `null_error` for p after adjustment for m
    `comparisons`, at worst Bonferroni's. `null_error` is the standard deviation of the mean under
    random signs, sqrt(sum of d^2) / n. Raises ValueError if `comparisons` is less than 1.
    """
    if comparisons < 1:
        raise ValueError("needed_difference: no comparison")
    reach = normal_quantile(1 - LEVEL / (2 * comparisons)) + normal_quantile(_POWER)
    return max(detectable, reach * null_error)


def verdict(difference: Interval, p_holm: float, *, lower: bool) -> Verdict:
    """Better or worse only if `p_holm` is below .05 and the interval excludes 0.

    `lower`: a lower score is the better one.
    """
    if p_holm >= LEVEL or difference.low <= 0 <= difference.high:
        return "no difference shown"
    return "better" if (difference.value > 0) != lower else "worse"


class _Draft:
    """A row but for what depends on how many comparisons there are."""

    def __init__(
        self, key: str, type_: str, shared: Shared, chosen: NDArray[np.bool_], seed: int
    ) -> None:
        self._key, self._type = key, type_
        self._scores = shared.scores[:, chosen]
        self._conversations: list[str] = shared.conversations[chosen].tolist()
        self._binary = bool(np.isin(shared.scores, (0.0, 1.0)).all())
        self._bootstrap = ClusterBootstrap(self._conversations, seed)
        self._differences = [own - self._scores[0] for own in self._scores[1:]]
        self.found = [compare(d.tolist(), self._conversations, seed) for d in self._differences]

    def row(self, adjusted: Iterator[float], comparisons: int) -> Row:
        """The row; takes an adjusted p for each contrast from `adjusted`."""
        contrasts = tuple(
            self._contrast(found, differences, next(adjusted), comparisons)
            for found, differences in zip(self.found, self._differences, strict=True)
        )
        clusters = len(set(self._conversations))
        means = tuple(self._mean(own) for own in self._scores)
        return Row(self._key, self._type, self._scores.shape[1], clusters, means, contrasts)

    def _mean(self, own: NDArray[np.float64]) -> Interval:
        found = self._bootstrap.mean(own.tolist())
        if found is None:
            raise ValueError(f"{self._key}, {self._type}: no score")
        return found.within()

    def _contrast(
        self, found: Difference, differences: NDArray[np.float64], p_holm: float, comparisons: int
    ) -> Contrast:
        lost, won = int((differences < 0).sum()), int((differences > 0).sum())
        null_error = float(np.sqrt((differences**2).sum()) / len(differences))
        lower = lower_is_better(self._key, self._type)
        return Contrast(
            found.estimate,
            found.p,
            p_holm,
            mcnemar(lost, won) if self._binary else None,
            found.effect,
            needed_difference(found.detectable, null_error, comparisons) if lost + won else 0.0,
            verdict(found.estimate, p_holm, lower=lower),
        )
