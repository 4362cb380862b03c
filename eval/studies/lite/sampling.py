"""Sampling schemes for a question subset, with each question's weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from eval.datasets.subset import Floats
from memsys.core.errors import InputError

Indices = NDArray[np.intp]
CANDIDATES = 200  # stratified draws from which `balanced` picks one


class Strata:
    """Strata (type x conversation) of Q questions, and the quota of each in a subset of n.

    Quotas are proportional, rounded by largest remainders, at least one each.
    """

    def __init__(self, strata: Sequence[str], n: int) -> None:
        """`strata` (Q): stratum of each question. Raises InputError unless strata <= n <= Q."""
        names, self.member = np.unique(np.asarray(strata), return_inverse=True)
        size = np.bincount(self.member)
        if not len(names) <= n <= len(strata):
            raise InputError(
                f"--questions {n}: use a number from {len(names)} (strata) to {len(strata)}"
            )
        exact = n * size / size.sum()
        self.quota = np.maximum(1, np.floor(exact).astype(np.intp))
        order = np.argsort(self.quota - exact, kind="stable")  # largest remainder first
        for one in order[: max(0, n - int(self.quota.sum()))]:
            self.quota[one] += 1
        while self.quota.sum() > n:  # the minimum of one gave small strata more than their share
            excess = np.where(self.quota > 1, self.quota - exact, -np.inf)
            self.quota[int(np.argmax(excess))] -= 1
        self.n, self.total = n, len(strata)
        self.weights: Floats = (size / self.quota)[self.member] / self.total
        self._questions = [np.flatnonzero(self.member == one) for one in range(len(names))]

    def simple(self, rng: np.random.Generator) -> Indices:
        """Draw n questions at random regardless of stratum; sorted."""
        return np.sort(rng.choice(self.total, self.n, replace=False))

    def stratified(self, rng: np.random.Generator, count: int) -> Indices:
        """Draw `count` subsets (count, n): each stratum's quota at random; sorted."""
        keys = rng.random((count, self.total))
        parts = [
            questions[np.argsort(keys[:, questions], axis=1)[:, :quota]]
            for questions, quota in zip(self._questions, self.quota, strict=True)
        ]
        return np.sort(np.concatenate(parts, axis=1), axis=1)

    def by_difficulty(self, rng: np.random.Generator, difficulties: Floats) -> Indices:
        """Draw one question from each of the quota's equal steps of difficulty in each stratum."""
        chosen: list[int] = []
        for questions, quota in zip(self._questions, self.quota, strict=True):
            ordered = questions[np.argsort(difficulties[questions], kind="stable")]
            chosen += [int(rng.choice(step)) for step in np.array_split(ordered, quota)]
        return np.sort(np.array(chosen, dtype=np.intp))

    def balanced(self, subsets: Indices, curves: Floats) -> Indices:
        """Return the one of the stratified `subsets` (C, n) most like all questions to the model.

        The weighted mean of its `curves` (Q, T) is nearest to the mean of all, by the mean square
        over the T abilities (rejective balanced sampling: Fuller, 2009; here the nearest wins).
        """
        shares = np.ascontiguousarray((self.weights[:, None] * curves).T)
        means = np.stack([share[subsets].sum(1) for share in shares], axis=1)
        distance = ((means - curves.mean(0)) ** 2).mean(1)
        best: Indices = subsets[int(np.argmin(distance))].astype(np.intp)
        return best


def candidates(strata: Strata, draws: int, seed: int) -> list[Indices]:
    """Return stratified subsets (CANDIDATES, n) for each draw, in as small a type as possible."""
    dtype = np.uint16 if strata.total < 1 << 16 else np.intp
    return [
        strata.stratified(np.random.default_rng((seed, draw)), CANDIDATES).astype(dtype)
        for draw in tqdm(range(draws), desc="draws", unit="draw", disable=None)
    ]
