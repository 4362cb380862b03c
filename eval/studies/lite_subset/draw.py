"""Ways of choosing n of Q questions, and what each chosen one then stands for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memsys.errors import InputError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Strata:
    """Questions in strata (type x conversation), and how many of each are chosen.

    Shares are proportional, rounded by largest remainders, at least one each.
    """

    def __init__(self, strata: Sequence[str], n: int) -> None:
        """`strata`: of each of Q questions. Raises InputError unless strata <= n <= Q."""
        names, self.member = np.unique(np.asarray(strata), return_inverse=True)
        size = np.bincount(self.member)
        if not len(names) <= n <= len(strata):
            raise InputError(
                f"--questions {n}: use a number from {len(names)} (strata) to {len(strata)}"
            )
        exact = n * size / size.sum()
        self.quota = np.maximum(1, np.floor(exact).astype(np.intp))
        order = np.argsort(self.quota - exact, kind="stable")  # the largest remainder first
        for one in order[: max(0, n - int(self.quota.sum()))]:
            self.quota[one] += 1
        while self.quota.sum() > n:  # strata of less than one took what others should have
            excess = np.where(self.quota > 1, self.quota - exact, -np.inf)
            self.quota[int(np.argmax(excess))] -= 1
        self.n, self.total = n, len(strata)
        self.weights: Floats = (size / self.quota)[self.member] / self.total
        self._of = [np.flatnonzero(self.member == one) for one in range(len(names))]

    def simple(self, rng: np.random.Generator) -> Indices:
        """As many questions at random, whatever their stratum; in order."""
        return np.sort(rng.choice(self.total, self.n, replace=False))

    def stratified(self, rng: np.random.Generator, count: int) -> Indices:
        """`count` draws (count, n): each stratum's quota of it at random; in order."""
        keys = rng.random((count, self.total))
        parts = []
        for own, quota in zip(self._of, self.quota, strict=True):
            parts.append(own[np.argsort(keys[:, own], axis=1)[:, :quota]])
        return np.sort(np.concatenate(parts, axis=1), axis=1)

    def by_difficulty(self, rng: np.random.Generator, difficulties: Floats) -> Indices:
        """One question of each of the quota's equal steps of difficulty within its stratum."""
        chosen: list[int] = []
        for own, quota in zip(self._of, self.quota, strict=True):
            ordered = own[np.argsort(difficulties[own], kind="stable")]
            chosen += [int(rng.choice(step)) for step in np.array_split(ordered, quota)]
        return np.sort(np.array(chosen, dtype=np.intp))

    def balanced(self, candidates: Indices, curves: Floats) -> Indices:
        """Of the stratified `candidates` (C, n) the one most like all questions to the model.

        Its weighted mean of `curves` (Q, T) is nearest to the mean of all, by the mean square over
        the T abilities (rejective balanced sampling: Fuller, 2009; here the nearest is kept).
        """
        shares = np.ascontiguousarray((self.weights[:, None] * curves).T)
        means = np.stack([share[candidates].sum(1) for share in shares], axis=1)
        distance = ((means - curves.mean(0)) ** 2).mean(1)
        best: Indices = candidates[int(np.argmin(distance))].astype(np.intp)
        return best
