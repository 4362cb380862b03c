"""Error rates of a judge, and the share of right answers corrected for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eval.metrics.stats.interval import FEWEST, ClusterBootstrap, critical_value, wilson


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


def rogan_gladen(apparent: float, false_accepts: float, false_rejects: float) -> float:
    """Estimate the true share of right answers from the apparent one (Rogan and Gladen, 1978).

    (apparent + specificity - 1) / (sensitivity + specificity - 1), with specificity = 1 -
    false_accepts and sensitivity = 1 - false_rejects. It may be outside of 0 to 1. nan if the judge
    passes wrong answers at least as often as right ones: its verdicts then carry no information.
    """
    power = 1 - false_accepts - false_rejects
    return (apparent - false_accepts) / power if power > 1e-9 else float("nan")


def corrected_share(
    apparent: float,
    error: float,
    false_accepts: Rate,
    false_rejects: Rate,
    degrees: int = 0,
    level: float = 0.95,
) -> CorrectedShare | None:
    """Correct `apparent`, of standard error `error`; None if J <= 0.

    The interval is that of the delta method with the uncertainty of all three, taken as independent
    (Rogan and Gladen, 1978, section on unknown rates): with p the corrected share, clipped to 0 to
    1, and J = 1 - false accepts - false rejects, Var(p) = (Var(apparent) + p^2 Var(rejects) +
    (1 - p)^2 Var(accepts)) / J^2, times the `critical_value` of the `degrees` of freedom of
    `error`.
    """
    estimate = rogan_gladen(apparent, false_accepts.share, false_rejects.share)
    if math.isnan(estimate):
        return None
    p = min(max(estimate, 0.0), 1.0)
    power = 1 - false_accepts.share - false_rejects.share
    variance = error**2 + (p * false_rejects.error) ** 2 + ((1 - p) * false_accepts.error) ** 2
    reach = critical_value(level, degrees) * variance**0.5 / power
    low, high = (min(max(end, 0.0), 1.0) for end in (estimate - reach, estimate + reach))
    return CorrectedShare(p, low, high, outside=not 0 <= estimate <= 1)
