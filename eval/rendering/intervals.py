"""Means, shares and paired differences with their intervals, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.compare.tables import least
from eval.datasets.types import ADVERSARIAL, types_in
from eval.records.schema import Record
from eval.rendering.numbers import interval, p_value, signed
from eval.stats.interval import ClusterBootstrap, wilson
from eval.stats.paired import compare, holm
from eval.summary.contrast import Contrast, needed_difference, verdict
from eval.summary.summarise import OVERALL


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean of `n` values with its 95% interval."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Values, each of a question of `conversations` (both of length n), and the bootstrap's seed.

    A value that is not known, or does not apply, is None and in no figure.
    """

    values: Sequence[float | None]
    conversations: Sequence[str]
    seed: int

    @classmethod
    def of(cls, records: Sequence[Record], values: Sequence[float | None], seed: int) -> Sample:
        """One value for each of the records."""
        return cls(values, [record["conversation"] for record in records], seed)

    def mean(self) -> Figure | None:
        """The mean of what is known, with the interval of ClusterBootstrap; None without any."""
        if not self.values:
            return None
        found = ClusterBootstrap(self.conversations, self.seed).mean(self.values)
        return None if found is None else Figure(found.value, found.low, found.high, found.n)

    def score(self) -> Figure | None:
        """The mean of values of 0 to 1, its interval cut to that range.

        Resampling equal values shows no spread, however few they are: Wilson's interval where all
        are 0 or all 1, and 0 to 1 around a single value between.
        """
        known = [value for value in self.values if value is not None]
        if set(known) in ({0.0}, {1.0}):
            return wilson_share([value == 1 for value in known])
        found = self.mean()
        if found is None or found.n == 1:
            return found and Figure(found.value, 0.0, 1.0, 1)
        return Figure(found.value, max(found.low, 0.0), min(found.high, 1.0), found.n)

    def share(self) -> Figure | None:
        """The share of 1s among values of 0 and 1.

        Wilson's interval where all are of one conversation, else as `score`.
        """
        pairs = zip(self.values, self.conversations, strict=True)
        known = [(value, of) for value, of in pairs if value is not None]
        if len({of for _, of in known}) > 1:
            return self.score()
        return wilson_share([value == 1 for value, _ in known])


def wilson_share(hits: Sequence[bool]) -> Figure | None:
    """The share of the n `hits` that are true, with Wilson's interval, which takes them for
    independent; None of none.
    """
    if not hits:
        return None
    low, high = wilson(sum(hits), len(hits))
    return Figure(sum(hits) / len(hits), low, high, len(hits))


def by_type(records: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    """Records of each type but adversarial that has some, then of these types together."""
    kept = [record for record in records if record["category"] != ADVERSARIAL]
    for name in types_in(records).values():
        own = [record for record in kept if record["type"] == name]
        if own:
            yield name, own
    if kept:
        yield OVERALL, kept


def difference_cells(
    differences: Sequence[tuple[Sequence[Record], Sequence[float]]], seed: int
) -> list[list[str]]:
    """Mean difference with its interval, p and verdict: a row for each of `differences`, which are
    records and as many values, paired by question, more being better.

    By the rules of `python -m eval.compare`: p is Holm's over these rows.
    """
    found = [
        compare(values, [record["conversation"] for record in records], seed)
        for records, values in differences
    ]
    rows = []
    for (_, values), one, p in zip(differences, found, holm([f.p for f in found]), strict=True):
        null_error = math.hypot(*values) / len(values)
        needed = needed_difference(one.detectable, null_error, len(found)) if any(values) else 0.0
        judged = verdict(one.estimate, p, lower=False)
        contrast = Contrast(one.estimate, one.p, p, None, one.effect, needed, judged)
        rows.append([interval(one.estimate, form=signed), p_value(p), least(contrast)])
    return rows


def show(figure: Figure | None, scale: float = 1, digits: int = 3) -> str:
    """`0.312 [0.280, 0.344]`, or `-` for what is not known."""
    if figure is None:
        return "-"
    parts = (figure.value * scale, figure.low * scale, figure.high * scale)
    value, low, high = (f"{part if round(part, digits) else 0.0:,.{digits}f}" for part in parts)
    return f"{value} [{low}, {high}]"


def percent(figure: Figure | None) -> str:
    """`31.2% [28.0%, 34.4%]`, or `-` for what is not known."""
    if figure is None:
        return "-"
    return f"{figure.value:.1%} [{figure.low:.1%}, {figure.high:.1%}]"


def with_n(figure: Figure | None) -> str:
    """As `percent`, with n."""
    return "-" if figure is None else f"{percent(figure)} n={figure.n}"
