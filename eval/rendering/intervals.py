"""Means, shares and paired differences of questions with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.datasets.types import ADVERSARIAL, types_in
from eval.records.schema import Record
from eval.rendering.numbers import interval, number, p_value, percent, signed
from eval.stats.interval import ClusterBootstrap, Interval, wilson
from eval.stats.paired import compare, holm
from eval.summary.contrast import Contrast, needed_difference, verdict
from eval.summary.summarise import OVERALL


@dataclass(frozen=True, slots=True)
class Sample:
    """`values` of n questions, of as many `conversations`, and the bootstrap's `seed`.

    A value that is unknown or does not apply is None and is left out.
    """

    values: Sequence[float | None]
    conversations: Sequence[str]
    seed: int

    @classmethod
    def of(cls, records: Sequence[Record], values: Sequence[float | None], seed: int) -> Sample:
        """Return the sample of one value for each of the records."""
        return cls(values, [record["conversation"] for record in records], seed)

    def mean(self) -> Interval | None:
        """Return the mean with the interval of ClusterBootstrap; None without values."""
        if not self.values:
            return None
        return ClusterBootstrap(self.conversations, self.seed).mean(self.values)

    def score(self) -> Interval | None:
        """Return the mean of values of 0 to 1, its interval clipped to that range.

        Resampling equal values shows no spread, however few they are. The interval is Wilson's
        where all values are 0 or all are 1, and 0 to 1 around a single value between.
        """
        known = [value for value in self.values if value is not None]
        if set(known) in ({0.0}, {1.0}):
            return wilson_share([value == 1 for value in known])
        mean = self.mean()
        if mean is not None and mean.n == 1:
            return Interval(mean.value, 0.0, 1.0, n=1)
        return mean and mean.within()

    def share(self) -> Interval | None:
        """Return the share of 1s among values of 0 and 1.

        The interval is Wilson's where all values are of one conversation, else that of `score`.
        """
        pairs = zip(self.values, self.conversations, strict=True)
        known = [(value, of) for value, of in pairs if value is not None]
        if len({of for _, of in known}) > 1:
            return self.score()
        return wilson_share([value == 1 for value, _ in known])


def wilson_share(hits: Sequence[bool]) -> Interval | None:
    """Return the share of true `hits` with Wilson's interval, which assumes that they are
    independent; None without hits.
    """
    if not hits:
        return None
    low, high = wilson(sum(hits), len(hits))
    return Interval(sum(hits) / len(hits), low, high, n=len(hits))


def by_type(records: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    """Yield the records of each type but adversarial that has some, then all of these types."""
    chosen = [record for record in records if record["category"] != ADVERSARIAL]
    for name in types_in(records).values():
        of_type = [record for record in chosen if record["type"] == name]
        if of_type:
            yield name, of_type
    if chosen:
        yield OVERALL, chosen


def difference_cells(
    differences: Sequence[tuple[Sequence[Record], Sequence[float]]], seed: int
) -> list[list[str]]:
    """Return mean difference with interval, p and verdict for each of `differences`.

    Each holds records and as many values, paired by question; more is better. The rules are those
    of `python -m eval.compare`; p is adjusted after Holm over these rows.
    """
    tests = [
        compare(values, [record["conversation"] for record in records], seed)
        for records, values in differences
    ]
    rows = []
    for (_, values), one, p in zip(differences, tests, holm([t.p for t in tests]), strict=True):
        null_error = math.hypot(*values) / len(values)
        needed = needed_difference(one.detectable, null_error, len(tests)) if any(values) else 0.0
        judged = verdict(one.estimate, p, lower=False)
        contrast = Contrast(one.estimate, one.p, p, None, one.effect, needed, judged)
        rows.append([interval(one.estimate, form=signed), p_value(p), verdict_text(contrast)])
    return rows


def verdict_text(contrast: Contrast) -> str:
    """Return the verdict; `no difference shown` with the difference that would be detected."""
    if contrast.verdict != "no difference shown":
        return contrast.verdict
    if contrast.needed == 0:
        return f"{contrast.verdict} (all scores are equal)"
    return f"{contrast.verdict} (needs >= {contrast.needed:.3f})"


Figure = Interval


def show(found: Interval | None, scale: float = 1, digits: int = 3) -> str:
    """Format an interval, its parts multiplied by `scale`."""
    return interval(found, digits, lambda part, places: number(part * scale, places))


def with_n(found: Interval | None) -> str:
    """Format a share with its n."""
    return percent(found, with_n=True)
