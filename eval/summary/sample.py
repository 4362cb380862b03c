"""Means and shares of values per question, with intervals that are never empty or impossible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.metrics.stats.agreement import wilson
from eval.metrics.stats.interval import FEWEST, ClusterBootstrap, Interval
from eval.records.schema import Record
from eval.summary.summarise import groups

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of n questions with their `conversations` (n), and the seed of the bootstrap.

    A value is None where it is unknown or does not apply; such questions do not count.
    """

    values: Sequence[float | None]
    conversations: Sequence[str]
    seed: int

    @classmethod
    def of(cls, records: Sequence[Record], values: Sequence[float | None], seed: int) -> Sample:
        """Build a sample from records and one value for each of them."""
        return cls(values, [record["conversation"] for record in records], seed)

    def mean(self, least: float = -math.inf, most: float = math.inf) -> Interval | None:
        """Return the mean with the interval of ClusterBootstrap, clipped to the possible values
        `least` to `most`; None without values.
        """
        if not self.values:
            return None
        mean = ClusterBootstrap(self.conversations, self.seed).mean(self.values)
        return mean and mean.within(least, most)

    def score(self) -> Interval | None:
        """Return the mean of values of 0 to 1, with its interval clipped to that range.

        Resampling equal values shows no spread, however few they are: the interval is Wilson's
        where all are 0 or all are 1, and 0 to 1 around a single value between.
        """
        values = [value for value in self.values if value is not None]
        if set(values) in ({0.0}, {1.0}):
            return wilson_share([value == 1 for value in values])
        mean = self.mean(0.0, 1.0)
        if mean is not None and mean.n == 1:
            return replace(mean, low=0.0, high=1.0)
        return mean

    def share(self) -> Interval | None:
        """Return the share of 1s among values of 0 and 1.

        The interval is Wilson's for fewer than FEWEST conversations, else as in `score`.
        """
        pairs = zip(self.values, self.conversations, strict=True)
        rows = [(value, conversation) for value, conversation in pairs if value is not None]
        clusters = len({conversation for _, conversation in rows})
        if clusters >= FEWEST:
            return self.score()
        share = wilson_share([value == 1 for value, _ in rows])
        return share and replace(share, clusters=clusters)


def wilson_share(hits: Sequence[bool]) -> Interval | None:
    """Return the share of true `hits` with Wilson's interval, which assumes that they are
    independent; None if `hits` is empty.
    """
    if not hits:
        return None
    return Interval(sum(hits) / len(hits), *wilson(sum(hits), len(hits)), n=len(hits))


def by_type(
    items: Sequence[T], record: Callable[[Any], Record] = lambda item: item
) -> Iterator[tuple[str, list[T]]]:
    """Yield each question type that occurs, adversarial excepted, with its items, then `overall`
    with the items of all these types. `record`: the record of an item, by default the item.
    """
    for name, group in groups(items, record).items():
        if group and name != TYPES[ADVERSARIAL]:
            yield name, group
