"""Means of each run and its differences to the first run, by question type, with verdicts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.metrics.stats.interval import ClusterBootstrap, Interval, normal_quantile
from eval.metrics.stats.paired import Difference, compare, holm, mcnemar
from eval.summary.measures import Measure, Shared, lower_is_better
from eval.summary.quantities import Quantity, ratio
from eval.summary.sample import Sample

LEVEL = 0.05
_POWER = 0.8
Verdict = Literal["better", "worse", "less", "more", "no difference shown"]
NOT_SHOWN: Verdict = "no difference shown"


@dataclass(frozen=True, slots=True)
class Contrast:
    """A run minus the first run, paired by question; of a quantity, the run's divided by the
    first's, minus 1.

    `p_holm` is adjusted over all comparisons shown; `p_mcnemar` is None unless every score is 0 or
    1. `effect`: Cohen's d_z, nan of a quantity. `needed`: see needed_difference; 0 where all scores
    are equal; of a quantity, the least share by which less or more is found.
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
    """A measure on one question type: a mean per run, and a contrast per run but the first.

    `n` questions of `clusters` conversations. `quantity`: what the measure is, if it is no score.
    """

    key: str
    type: str
    n: int
    clusters: int
    means: tuple[Interval, ...]
    contrasts: tuple[Contrast, ...]
    quantity: Quantity | None = None


def contrast(measures: Sequence[tuple[Measure, Shared]], seed: int) -> list[list[Row]]:
    """Return one row for each measure and each of its question types that has questions.

    p values are adjusted over all rows of all measures.
    """
    drafts = [
        [
            _draft(measure, type_, shared, mask, seed)
            for type_ in measure.types
            if (mask := shared.of(type_)).any()
        ]
        for measure, shared in measures
    ]
    raw = [test.p for rows in drafts for draft in rows for test, _ in draft.found]
    adjusted = iter(holm(raw))
    return [[_row(draft, adjusted, len(raw)) for draft in rows] for rows in drafts]


def paired_contrasts(differences: Sequence[Sample], most: float = 1.0) -> list[Contrast]:
    """Judge mean differences by the rule of `verdict`, p adjusted over all of `differences`, whose
    values, none of them None, are paired by question, -`most` to `most`; positive is better.
    """
    values = [np.asarray(sample.values, dtype=np.float64) for sample in differences]
    tests = [
        compare(each.tolist(), sample.conversations, sample.seed, most=most)
        for each, sample in zip(values, differences, strict=True)
    ]
    adjusted = holm([test.p for test in tests])
    return [
        _contrast(test, each, p, len(tests), lower=False, binary=False)
        for test, each, p in zip(tests, values, adjusted, strict=True)
    ]


def needed_difference(detectable: float, null_error: float, comparisons: int) -> float:
    """Return the least true difference that `verdict` would find with a power of about 80%.

    The greater of two, as both conditions of `verdict` must hold: `detectable`, for which the
    interval excludes 0, and (z_{1 - .05 / 2m} + z_.80) * `null_error`, for which p is below .05
    after adjustment for m `comparisons` (at worst Bonferroni's). `null_error` is the standard
    deviation of the mean under random signs, sqrt(sum of d^2) / n.
    """
    reach = normal_quantile(1 - LEVEL / (2 * comparisons)) + normal_quantile(_POWER)
    return max(detectable, reach * null_error)


def verdict(difference: Interval, p_holm: float, *, lower: bool) -> Verdict:
    """Return better or worse only if `p_holm` is below .05 and the interval excludes 0.

    `lower`: lower scores are better.
    """
    if p_holm >= LEVEL or difference.low <= 0 <= difference.high:
        return NOT_SHOWN
    return "better" if (difference.value > 0) != lower else "worse"


class _Draft(NamedTuple):
    """A row before the adjustment for the number of comparisons. `found`: of each run but the
    first, its comparison with the first, and the differences of its scores, shape (n,).
    """

    row: Row
    found: list[tuple[Difference, NDArray[np.float64]]]
    binary: bool


def _draft(
    measure: Measure, type_: str, shared: Shared, mask: NDArray[np.bool_], seed: int
) -> _Draft:
    scores, quantity = shared.scores[:, mask], measure.quantity
    conversations: list[str] = shared.conversations[mask].tolist()
    bootstrap, moved = ClusterBootstrap(conversations, seed), scores[1:] - scores[0]
    if quantity is None:
        samples = (Sample(of_run.tolist(), conversations, seed) for of_run in scores)
        means = [mean for sample in samples if (mean := sample.mean(0.0, 1.0))]
        tests = [compare(differences.tolist(), conversations, seed) for differences in moved]
    else:
        means = [quantity.interval(of_run, bootstrap) for of_run in scores]
        tests = [ratio(quantity, of_run, scores[0], bootstrap) for of_run in scores[1:]]
    clusters = len(set(conversations))
    row = Row(measure.key, type_, len(conversations), clusters, tuple(means), (), quantity)
    binary = bool(np.isin(shared.scores, (0.0, 1.0)).all())
    return _Draft(row, list(zip(tests, moved, strict=True)), binary)


def _row(draft: _Draft, adjusted: Iterator[float], comparisons: int) -> Row:
    """Return the finished row, with the next p values of `adjusted` for its contrasts."""
    row, lower = draft.row, lower_is_better(draft.row.key, draft.row.type)
    contrasts = [
        _contrast(test, moved, p, comparisons, lower=lower, binary=draft.binary)
        if row.quantity is None
        else _change(test, p)
        for (test, moved), p in zip(draft.found, adjusted, strict=False)
    ]
    return replace(row, contrasts=tuple(contrasts))


def _change(test: Difference, p_holm: float) -> Contrast:
    change = test.estimate.shifted(-1)
    shown = verdict(change, p_holm, lower=True)
    words: dict[Verdict, Verdict] = {"better": "less", "worse": "more"}
    least = 1 - test.detectable
    return Contrast(change, test.p, p_holm, None, math.nan, least, words.get(shown, shown))


def _contrast(
    test: Difference,
    differences: NDArray[np.float64],
    p_holm: float,
    comparisons: int,
    *,
    lower: bool,
    binary: bool,
) -> Contrast:
    lost, won = int((differences < 0).sum()), int((differences > 0).sum())
    null_error = float(np.sqrt((differences**2).sum()) / len(differences))
    return Contrast(
        test.estimate,
        test.p,
        p_holm,
        mcnemar(lost, won) if binary else None,
        test.effect,
        needed_difference(test.detectable, null_error, comparisons) if lost + won else 0.0,
        verdict(test.estimate, p_holm, lower=lower),
    )
