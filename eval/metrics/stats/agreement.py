"""Repeated verdicts: of each judge's runs, agreement of judges beyond chance, and error rates."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev

import numpy as np

from eval.metrics.stats.interval import (
    FEWEST,
    ClusterBootstrap,
    Floats,
    Interval,
    critical_value,
    normal_quantile,
)


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of `count` events in `n` trials, its standard error and two 95% intervals.

    `wilson` takes the trials for independent; `clustered` resamples conversations, and is None for
    fewer than FEWEST conversations or if conversations do not differ. `error`: see `rate`.
    """

    count: int
    n: int
    share: float
    wilson: tuple[float, float]
    clustered: tuple[float, float] | None
    error: float


@dataclass(frozen=True, slots=True)
class CorrectedShare:
    """A corrected share of right answers and its interval, clipped to 0 to 1.

    `outside`: the estimate was outside of 0 to 1, so the rates contradict the apparent share.
    """

    value: float
    low: float
    high: float
    outside: bool


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval (1927) of `successes` in `n` >= 1 independent trials."""
    z = normal_quantile(1 - (1 - level) / 2)
    share = successes / n
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def rate(events: Sequence[bool], clusters: Sequence[str], seed: int = 0) -> Rate | None:
    """Return the share of true `events` among n trials in conversations; None without a trial.

    `error` is the standard error over conversations, FEWEST or more of them, but at least that of
    independent trials with p = (count + 1) / (n + 2), sqrt(p(1 - p) / (n + 2)): 0 errors in 20
    probes do not prove a rate of 0 (Lang and Reiczigel, 2014, add the same two trials).
    """
    n, count = len(events), sum(events)
    if n == 0:
        return None
    p = (count + 1) / (n + 2)
    error = (p * (1 - p) / (n + 2)) ** 0.5
    clustered = None
    if len(set(clusters)) >= FEWEST:
        mean = ClusterBootstrap(clusters, seed).mean([float(event) for event in events])
        if mean is not None and mean.error > 0:
            possible = mean.within()
            clustered = (possible.low, possible.high)
            error = max(error, mean.error)
    return Rate(count, n, count / n, wilson(count, n), clustered, error)


def corrected_share(
    apparent: float,
    error: float,
    false_accepts: Rate,
    false_rejects: Rate,
    degrees: int = 0,
    level: float = 0.95,
) -> CorrectedShare | None:
    """Estimate the true share of right answers from `apparent`, of standard error `error` (Rogan
    and Gladen, 1978).

    The estimate is (apparent - false accepts) / J, J = 1 - false accepts - false rejects. None if J
    <= 0: a judge that passes wrong answers at least as often as right ones gives no information.
    The interval is that of the delta method with the uncertainty of all three, taken as independent
    (section on unknown rates): with p the corrected share, clipped to 0 to 1, Var(p) =
    (Var(apparent) + p^2 Var(rejects) + (1 - p)^2 Var(accepts)) / J^2, times the `critical_value` of
    the `degrees` of freedom of `error`.
    """
    power = 1 - false_accepts.share - false_rejects.share
    if power <= 1e-9:
        return None
    estimate = (apparent - false_accepts.share) / power
    p = min(max(estimate, 0.0), 1.0)
    variance = error**2 + (p * false_rejects.error) ** 2 + ((1 - p) * false_accepts.error) ** 2
    reach = critical_value(level, degrees) * variance**0.5 / power
    low, high = (min(max(end, 0.0), 1.0) for end in (estimate - reach, estimate + reach))
    return CorrectedShare(p, low, high, outside=not 0 <= estimate <= 1)


def cohen_kappa(table: Floats) -> Floats:
    """Return Cohen's kappa (1960) of flattened k x k contingency tables, (any, k * k) -> (any,).

    kappa = (p_o - p_e) / (1 - p_e): p_o the share on the diagonal, p_e the share expected there
    from the margins by chance. nan where p_e is 1: both judges always gave the same one verdict,
    which does not show agreement.
    """
    size = round(table.shape[1] ** 0.5)
    shares = table.reshape(-1, size, size) / table.sum(axis=1)[:, None, None]
    observed = np.trace(shares, axis1=1, axis2=2)
    expected = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    return _beyond_chance(observed, expected)


def fleiss_kappa(sums: Floats) -> Floats:
    """Return Fleiss' kappa (1971) of sums of `fleiss_features`, (any, k + 2) -> (any,).

    kappa = (P - P_e) / (1 - P_e): P the mean over items of the share of agreeing pairs of ratings,
    P_e = sum_j p_j^2, p_j the share of all ratings in category j. nan if all are in one category.
    """
    observed = sums[:, -2] / sums[:, -1]
    ratings = sums[:, :-2]
    shares = ratings / ratings.sum(axis=1, keepdims=True)
    return _beyond_chance(observed, (shares**2).sum(axis=1))


def fleiss_features(counts: Floats) -> Floats:
    """Return the terms of Fleiss' kappa per item: counts, share of agreeing pairs, 1; (n, k + 2).

    counts: (n, k), the number of ratings of item i in category j. Raises ValueError unless every
    item has the same number of ratings, 2 or more.
    """
    ratings = counts.sum(axis=1)
    if len(counts) == 0 or ratings.min() < 2 or np.ptp(ratings) > 0:
        raise ValueError("fleiss_kappa: every item needs the same number of ratings, 2 or more")
    each = ratings[0]
    pairs = ((counts**2).sum(axis=1) - each) / (each * (each - 1))
    return np.column_stack([counts, pairs, np.ones(len(counts))])


def cohen_interval(
    verdicts: Sequence[bool], other: Sequence[bool], clusters: Sequence[str], seed: int = 0
) -> Interval:
    """Return Cohen's kappa of two judges on the same n answers, with its interval.

    `clusters`: the conversation of each answer.
    """
    cells = 2 * np.asarray(verdicts, dtype=np.intp) + np.asarray(other, dtype=np.intp)
    return _with_interval(np.eye(4)[cells], clusters, cohen_kappa, seed)


def fleiss_interval(
    verdicts: Sequence[Sequence[bool]], clusters: Sequence[str], seed: int = 0
) -> Interval:
    """Return Fleiss' kappa of two or more verdicts on each of n answers, with its interval.

    The verdicts may also be runs of one judge, for its self-agreement. `clusters`: the conversation
    of each answer. Raises ValueError unless all answers have the same number of verdicts, 2 or
    more.
    """
    counts = np.array([(len(row) - sum(row), sum(row)) for row in verdicts], dtype=np.float64)
    return _with_interval(fleiss_features(counts.reshape(-1, 2)), clusters, fleiss_kappa, seed)


def _with_interval(
    features: Floats, clusters: Sequence[str], kappa: Callable[[Floats], Floats], seed: int
) -> Interval:
    """Return the kappa of n items from their `features` (n, m), its interval within -1 to 1."""
    bootstrap = ClusterBootstrap(clusters, seed, resamples=2000)
    return bootstrap.of_sums(features, kappa).within(-1.0, 1.0)


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    room = 1 - expected
    kappa = np.full(len(room), np.nan)
    np.divide(observed - expected, room, out=kappa, where=room > 1e-12)
    return kappa


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """Statistics of one judge over all answers.

    The mean of each run, their mean and standard deviation (n - 1; None for one run), and the share
    of answers that a majority of the runs passed.
    """

    runs: tuple[float, ...]
    mean: float
    deviation: float | None
    majority: float


@dataclass(frozen=True, slots=True)
class PanelStatistics:
    """Statistics of each member of a panel, and their agreement.

    Agreement is Cohen's kappa of each pair and Fleiss' kappa of all members, each member with the
    majority verdict of its runs; a single member has no kappas.
    """

    members: Mapping[str, RunStatistics]
    pairs: Mapping[tuple[str, str], Interval]
    all_members: Interval | None


def majority(verdicts: Sequence[bool]) -> bool:
    """Return True if more than half of `verdicts` passed the answer; a tie is no majority."""
    return 2 * sum(verdicts) > len(verdicts)


def run_statistics(verdicts: Sequence[Sequence[bool]]) -> RunStatistics:
    """Return the statistics of verdicts on n answers, a row per answer and a column per run.

    Raises ValueError without an answer, or if answers have different numbers of runs.
    """
    means = tuple(fmean(run) for run in zip(*verdicts, strict=True))
    return RunStatistics(
        means,
        fmean(means),
        stdev(means) if len(means) > 1 else None,
        fmean(majority(row) for row in verdicts),
    )


def panel_statistics(
    judgements: Sequence[Mapping[str, Sequence[bool]]], clusters: Sequence[str], seed: int = 0
) -> PanelStatistics:
    """Return the statistics of a panel from the `runs` of its judgements on n answers.

    `clusters`: the conversation of each answer. Raises ValueError without an answer, or if answers
    have different judges or numbers of runs.
    """
    names = list(judgements[0]) if judgements else []
    if any(list(judgement) != names for judgement in judgements):
        raise ValueError("panel_statistics: every answer needs the same judges")
    by_member = {name: [judgement[name] for judgement in judgements] for name in names}
    members = {name: run_statistics(verdicts) for name, verdicts in by_member.items()}
    votes = {name: [majority(row) for row in verdicts] for name, verdicts in by_member.items()}
    pairs = {
        (name, other): cohen_interval(votes[name], votes[other], clusters, seed)
        for name, other in combinations(names, 2)
    }
    together = None
    if len(names) > 1:
        together = fleiss_interval(list(zip(*votes.values(), strict=True)), clusters, seed)
    return PanelStatistics(members, pairs, together)
