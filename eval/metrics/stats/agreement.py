"""Agreement between judges beyond chance: kappa."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.metrics.stats.resamples import Floats


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
    one: Sequence[bool], other: Sequence[bool], clusters: Sequence[str], seed: int = 0
) -> Interval:
    """Return Cohen's kappa of two judges on the same n answers, with its interval.

    `clusters`: the conversation of each answer.
    """
    cells = 2 * np.asarray(one, dtype=np.intp) + np.asarray(other, dtype=np.intp)
    return _with_interval(np.eye(4)[cells], clusters, cohen_kappa, seed)


def fleiss_interval(
    verdicts: Sequence[Sequence[bool]], clusters: Sequence[str], seed: int = 0
) -> Interval:
    """Return Fleiss' kappa of two or more verdicts on each of n answers, with its interval.

    The verdicts may also be runs of one judge, for its self-agreement. `clusters`: the conversation
    of each answer. Raises ValueError unless all answers have the same number of verdicts, 2 or
    more.
    """
    if len({len(row) for row in verdicts}) != 1:
        raise ValueError("fleiss_kappa: every item needs the same number of ratings, 2 or more")
    ratings = np.asarray(verdicts, dtype=np.float64)
    passed = ratings.sum(axis=1)
    counts = np.column_stack([ratings.shape[1] - passed, passed])
    return _with_interval(fleiss_features(counts), clusters, fleiss_kappa, seed)


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
