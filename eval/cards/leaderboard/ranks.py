"""Ranks of systems with their uncertainty: all of them on the same draws of conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from eval.cards.leaderboard.scores import Column, Scores
from eval.metrics.stats.interval import Interval
from eval.metrics.stats.resamples import Floats
from memsys.core.errors import InputError

TOPS = (1, 3, 5)
_DIGITS = 12  # of means; beyond them, equal scores differ by the order of summation


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of one system among `systems` by its `mean` on the questions that all have a score
    on, 1 for the highest; systems with equal means share the mean of their ranks.

    `low`, `high`: 2.5% and 97.5% quantiles of the rank over resamples. `top`: by number of places,
    the share of resamples in which the system is among them; a tie across the last place counts in
    part, so that the shares of all systems sum to the number of places.
    """

    column: Column
    type: str
    system: str
    systems: int
    mean: Interval
    rank: float
    low: float
    high: float
    top: Mapping[int, float]


def ranks(scores: Scores, seed: int) -> Iterator[Rank]:
    """Yield the ranks by column, type and system. Raises InputError where the systems have no
    question in common.
    """
    for column in scores.ranked():
        values = scores.scores[column]
        for type_, chosen in scores.masks(column):
            systems, both = scores.shared(column, chosen)
            if not both.any():
                fewest = min(systems, key=lambda i: int((~np.isnan(values[i, chosen])).sum()))
                raise InputError(
                    f"{scores.names[fewest]}: no {type_} question that all other systems have a "
                    f"score of ({column.name}); leave it out, or rank it on its own"
                )
            table = values[systems][:, both]
            bootstrap = scores.bootstrap(both, seed)
            drawn = bootstrap.sums(table.T)  # the same questions for all: in the order of means
            order = ranked(table.mean(axis=1)[np.newaxis])[0]
            places = ranked(drawn)
            low, high = np.quantile(places, [0.025, 0.975], axis=0, method="inverted_cdf")
            top = {k: shares(drawn, k) for k in TOPS}
            for i, system in enumerate(systems):
                mean = bootstrap.mean(table[i].tolist())
                if mean is None:
                    raise ValueError("ranks: no score")
                yield Rank(
                    column,
                    type_,
                    scores.names[system],
                    len(systems),
                    mean.within(),
                    float(order[i]),
                    float(low[i]),
                    float(high[i]),
                    {k: float(share[i]) for k, share in top.items()},
                )


def ranked(values: Floats) -> Floats:
    """Return the rank of each column within its row, 1 for the highest; ties share their mean."""
    from scipy.stats import rankdata  # noqa: PLC0415 - takes a second

    return np.asarray(rankdata(-values.round(_DIGITS), axis=1), dtype=np.float64)


def shares(drawn: Floats, places: int) -> Floats:
    """Return the share of rows of `drawn` (resamples, S) in which each column has one of the first
    `places`; columns that tie for the last of these share it.
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - takes a second

    first, last = (
        rankdata(-drawn.round(_DIGITS), method=method, axis=1) for method in ("min", "max")
    )
    tied = last - first + 1
    return np.asarray((np.clip(places - first + 1, 0, tied) / tied).mean(axis=0))


def correlation(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return Spearman's rho of two rankings over the systems in both; nan where fewer than two
    differ.
    """
    common = [system for system in one if system in other]
    if any(len({ranking[system] for system in common}) < 2 for ranking in (one, other)):
        return float("nan")
    first, second = (
        ranked(-np.array([[ranking[system] for system in common]]))[0] for ranking in (one, other)
    )
    return float(np.corrcoef(first, second)[0, 1])
