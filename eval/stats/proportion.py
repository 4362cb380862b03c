"""Intervals of single proportions."""

from __future__ import annotations

import math

from eval.stats.quantiles import normal_quantile


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval (1927) of `successes` out of `n` independent trials, in 0 to 1.

    Raises ValueError unless 0 <= successes <= n and n >= 1.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"wilson: {successes} of {n}")
    z = normal_quantile(1 - (1 - level) / 2)
    share = successes / n
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
