"""Error rates of a judge, and a share of right answers corrected for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eval.stats.interval import ClusterBootstrap, critical_value, wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` of `n`: the share, Wilson's interval as if all n were independent, and the one over
    conversations (None where these do not differ, or there is one only).
    """

    count: int
    n: int
    share: float
    wilson: tuple[float, float]
    clustered: tuple[float, float] | None
    error: float  # standard error, see `rate`


class Corrected(NamedTuple):
    """A corrected share of right answers and its interval, both within 0 to 1.

    `outside`: the estimate lay outside and was cut off, so that rates and share contradict.
    """

    value: float
    low: float
    high: float
    outside: bool


def rate(happened: Sequence[bool], clusters: Sequence[str], seed: int = 0) -> Rate | None:
    """The share of `happened`, n trials in conversations; None without any.

    `error`: over conversations, but never less than sqrt(p(1 - p) / (n + 2)) with p = (count + 1) /
    (n + 2) gives for independent trials: no error in 20 probes is no proof of none (Lang and
    Reiczigel, 2014, add the same two).
    """
    n, count = len(happened), sum(happened)
    if n == 0:
        return None
    p = (count + 1) / (n + 2)
    error = (p * (1 - p) / (n + 2)) ** 0.5
    clustered = None
    if len(set(clusters)) > 1:
        found = ClusterBootstrap(clusters, seed).mean([float(one) for one in happened])
        if found is not None and found.error > 0:
            possible = found.within()
            clustered = (possible.low, possible.high)
            error = max(error, found.error)
    return Rate(count, n, count / n, wilson(count, n), clustered, error)


def rogan_gladen(apparent: float, false_accepts: float, false_rejects: float) -> float:
    """The true share of right answers behind an apparent one (Rogan and Gladen, 1978).

    (apparent + specificity - 1) / (sensitivity + specificity - 1), with specificity = 1 -
    false_accepts and sensitivity = 1 - false_rejects. It may lie outside of 0 to 1. nan where the
    judge passes wrong answers as often as right ones: its verdicts then say nothing.
    """
    power = 1 - false_accepts - false_rejects
    return (apparent - false_accepts) / power if power > 1e-9 else float("nan")


def corrected(
    apparent: float,
    error: float,
    false_accepts: Rate,
    false_rejects: Rate,
    clusters: int = 1,
    level: float = 0.95,
) -> Corrected | None:
    """`apparent` (standard error `error`, over so many `clusters`) corrected, with an interval.

    By the delta method, with the uncertainty of all three, taken for independent (Rogan and
    Gladen, 1978, section on unknown rates): with p the corrected share and J = 1 - false accepts -
    false rejects, Var(p) = (Var(apparent) + p^2 Var(rejects) + (1 - p)^2 Var(accepts)) / J^2. p is
    cut to 0 to 1 in it; t of clusters - 1 degrees of freedom, the normal for one cluster. None
    where J <= 0.
    """
    found = rogan_gladen(apparent, false_accepts.share, false_rejects.share)
    if np.isnan(found):
        return None
    p = min(max(found, 0.0), 1.0)
    power = 1 - false_accepts.share - false_rejects.share
    variance = error**2 + (p * false_rejects.error) ** 2 + ((1 - p) * false_accepts.error) ** 2
    reach = critical_value(level, clusters) * variance**0.5 / power
    low, high = (min(max(end, 0.0), 1.0) for end in (found - reach, found + reach))
    return Corrected(p, low, high, outside=not 0 <= found <= 1)
