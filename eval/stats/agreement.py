"""How far judges agree beyond chance, and how well a score tells right from wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from eval.stats.interval import ClusterBootstrap, Floats, Interval


def cohen_kappa(table: Floats) -> Floats:
    """Cohen's kappa (1960) of contingency tables, shape (any, k * k), rows flattened -> (any,).

    kappa = (p_o - p_e) / (1 - p_e): p_o the share on the diagonal, p_e that of two judges with
    these margins who judge by chance. nan where p_e is 1: both gave one and the same verdict
    throughout, which says nothing of agreement.
    """
    size = round(table.shape[1] ** 0.5)
    shares = table.reshape(-1, size, size) / table.sum(axis=1)[:, None, None]
    observed = np.trace(shares, axis1=1, axis2=2)
    expected = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    return _beyond_chance(observed, expected)


def fleiss_kappa(sums: Floats) -> Floats:
    """Fleiss' kappa (1971) from sums over items of `fleiss_features`, (any, k + 2) -> (any,).

    kappa = (P - P_e) / (1 - P_e): P the mean over items of the share of agreeing pairs of ratings,
    P_e = sum_j p_j^2, p_j the share of all ratings in category j. nan where all are in one.
    """
    observed = sums[:, -2] / sums[:, -1]
    ratings = sums[:, :-2]
    shares = ratings / ratings.sum(axis=1, keepdims=True)
    return _beyond_chance(observed, (shares**2).sum(axis=1))


def fleiss_features(counts: Floats) -> Floats:
    """What Fleiss' kappa adds up, (n, k + 2): ratings by category, share of agreeing pairs, 1.

    counts: (n, k), how many ratings of item i are in category j; every row sums to the same number
    of ratings, 2 or more. Raises ValueError otherwise.
    """
    ratings = counts.sum(axis=1)
    if len(counts) == 0 or ratings.min() < 2 or np.ptp(ratings) > 0:
        raise ValueError("fleiss_kappa: every item needs the same number of ratings, 2 or more")
    each = ratings[0]
    pairs = ((counts**2).sum(axis=1) - each) / (each * (each - 1))
    return np.column_stack([counts, pairs, np.ones(len(counts))])


def two_judges(
    one: Sequence[bool], other: Sequence[bool], clusters: Sequence[str], seed: int = 0
) -> Interval:
    """Cohen's kappa of two judges' verdicts on the same n answers, clustered by conversation."""
    cells = 2 * np.asarray(one, dtype=np.intp) + np.asarray(other, dtype=np.intp)
    return _with_interval(np.eye(4)[cells], clusters, cohen_kappa, seed)


def all_judges(
    verdicts: Sequence[Sequence[bool]], clusters: Sequence[str], seed: int = 0
) -> Interval:
    """Fleiss' kappa of two or more verdicts on each of n answers, clustered by conversation.

    Also of the runs of one judge: how far it agrees with itself. Raises ValueError where answers
    have different numbers of verdicts, or fewer than 2.
    """
    if len({len(row) for row in verdicts}) != 1:
        raise ValueError("fleiss_kappa: every item needs the same number of ratings, 2 or more")
    given = np.asarray(verdicts, dtype=np.float64)
    passed = given.sum(axis=1)
    counts = np.column_stack([given.shape[1] - passed, passed])
    return _with_interval(fleiss_features(counts), clusters, fleiss_kappa, seed)


def auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Area under the ROC curve: the chance that a right answer scores above a wrong one.

    Ties count one half (Mann and Whitney, 1947; Hanley and McNeil, 1982). scores, positive: (n,).
    nan unless there are both right and wrong ones.
    """
    right = int(positive.sum())
    wrong = len(positive) - right
    if not right or not wrong:
        return float("nan")
    _, place, times = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    ranks = (last - (times - 1) / 2)[place]  # the mean rank of those that tie
    return float((ranks[positive].sum() - right * (right + 1) / 2) / (right * wrong))


def _with_interval(
    features: Floats, clusters: Sequence[str], kappa: Callable[[Floats], Floats], seed: int
) -> Interval:
    """Return the kappa of n items from their `features` (n, m), its interval within -1 to 1."""
    bootstrap = ClusterBootstrap(clusters, seed, resamples=2000)
    return bootstrap.of_sums(features, kappa).within(-1.0, 1.0)


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    room = 1 - expected
    settled = room > 1e-12
    kappa = np.full(len(room), np.nan)
    np.divide(observed - expected, room, out=kappa, where=settled)
    return kappa
