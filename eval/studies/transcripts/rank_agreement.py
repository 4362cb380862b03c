"""How alike two sets of questions rank the same strategies, with an interval over conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.metrics.stats.resamples import Floats

Scores = Mapping[str, Mapping[str, float]]  # by strategy, then by question id
_SPLITS = 500  # of the conversations in two halves


@dataclass(frozen=True, slots=True)
class Agreement:
    """Rank correlation of the strategies' mean scores on gold and on silver questions.

    `gold`, `silver`: number of questions. `halves`: mean tau-b of gold questions on one half of the
    conversations with gold questions on the other, which is the most that gold itself reaches on
    so many conversations; `crossed`: of silver questions on one half with gold ones on the other.
    """

    strategies: tuple[str, ...]
    gold: int
    silver: int
    tau: Interval
    rho: Interval
    halves: float
    crossed: float


def agreement(
    gold: Scores, silver: Scores, conversation_of: Callable[[str], str], seed: int
) -> Agreement:
    """Return the agreement over the strategies in both; each has the same questions.

    `conversation_of`: conversation of a question id. The interval resamples conversations, with
    their gold and their silver questions.
    """
    names = tuple(name for name in gold if name in silver)
    ids = [*next(iter(gold.values()))], [*next(iter(silver.values()))]
    features = np.vstack(
        [
            _features(gold, names, ids[0], left=True),
            _features(silver, names, ids[1], left=False),
        ]
    )
    clusters = [conversation_of(one) for side in ids for one in side]
    bootstrap = ClusterBootstrap(clusters, seed)
    tau, rho = (
        bootstrap.of_sums(features, _of_sums(measure)).within(-1.0, 1.0)
        for measure in (kendall, spearman)
    )
    halves, crossed = _halves(features, clusters, seed)
    return Agreement(names, len(ids[0]), len(ids[1]), tau, rho, halves, crossed)


def kendall(one: Floats, other: Floats) -> Floats:
    """Return Kendall's tau-b (1945) of each row of `one` and `other`, (any, s) -> (any,).

    nan where all values of a row are equal.
    """
    first, second = np.triu_indices(one.shape[1], 1)
    signs = [np.sign(rows[:, first] - rows[:, second]) for rows in (one, other)]
    return _correlation(*signs)


def spearman(one: Floats, other: Floats) -> Floats:
    """Return Spearman's rho (1904) of each row of `one` and `other`, (any, s) -> (any,); equal
    values share their mean rank. nan where all values of a row are equal.
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - takes a second

    ranks = [rankdata(rows, axis=1) for rows in (one, other)]
    return _correlation(*(rows - rows.mean(axis=1, keepdims=True) for rows in ranks))


def _correlation(one: Floats, other: Floats) -> Floats:
    scale = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    found: Floats = np.full(len(one), np.nan)
    np.divide((one * other).sum(axis=1), scale, out=found, where=scale > 0)
    return found


def _features(scores: Scores, names: Sequence[str], ids: Sequence[str], *, left: bool) -> Floats:
    """Return a row for each question: the scores of each strategy and 1, in the left or right half
    of the columns.
    """
    rows = np.array([[*(scores[name][id_] for name in names), 1.0] for id_ in ids])
    empty = np.zeros_like(rows)
    return np.hstack([rows, empty] if left else [empty, rows])


def _means(sums: Floats) -> tuple[Floats, Floats]:
    """Return the means on gold and on silver questions of each row of sums of `_features`."""
    half = sums.shape[1] // 2
    sides = sums[:, :half], sums[:, half:]
    with np.errstate(invalid="ignore", divide="ignore"):
        gold, silver = (side[:, :-1] / side[:, -1:] for side in sides)
    return gold, silver


def _of_sums(measure: Callable[[Floats, Floats], Floats]) -> Callable[[Floats], Floats]:
    return lambda sums: measure(*_means(sums))


def _halves(features: Floats, clusters: Sequence[str], seed: int) -> tuple[float, float]:
    """Return the mean tau-b over splits of the conversations in two halves: gold with gold, and
    silver with gold of the other half.
    """
    names, member = np.unique(np.asarray(clusters), return_inverse=True)
    parts = np.zeros((len(names), features.shape[1]))
    np.add.at(parts, member, features)
    if len(names) < 2:
        return float("nan"), float("nan")
    order = np.random.default_rng(seed)
    chosen: NDArray[Any] = np.zeros((_SPLITS, len(names)))
    for row in chosen:
        row[order.permutation(len(names))[: len(names) // 2]] = 1.0
    gold, silver = _means(chosen @ parts)
    other, _ = _means((1.0 - chosen) @ parts)
    halves, crossed = (_mean(kendall(one, other)) for one in (gold, silver))
    return halves, crossed


def _mean(values: Floats) -> float:
    """Return the mean of the values that are defined, nan if none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
