"""Means and shares with their intervals, and how they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.questions import TYPES
from eval.records import Record
from eval.stats.bootstrap import ClusterBootstrap
from eval.stats.paired import Difference
from eval.stats.proportion import wilson
from eval.summary import OVERALL

ALPHA = 0.05
ANSWERED_TYPES = tuple(name for category, name in TYPES.items() if category != 5)


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

    Whatever is known of no question is None there.
    """

    values: Sequence[float | None]
    conversations: Sequence[str]
    seed: int

    def mean(self) -> Figure | None:
        """The mean of what is known, with the interval of docs/statistics.md; None without any."""
        if not self.values:
            return None
        found = ClusterBootstrap(self.conversations, self.seed).estimate(self.values)
        return None if found is None else Figure(found.mean, found.low, found.high, found.n)

    def score(self) -> Figure | None:
        """The mean of values of 0 to 1, its interval cut to that range.

        Wilson's interval where all are 0 or all 1: to resample equals shows no spread, however few
        they are.
        """
        known = [value for value in self.values if value is not None]
        if set(known) in ({0.0}, {1.0}):
            return wilson_share([value == 1 for value in known])
        found = self.mean()
        if found is None:
            return None
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
    """The share of `hits` with Wilson's interval, which takes them for independent; None of none.

    Length n.
    """
    if not hits:
        return None
    count = sum(hits)
    low, high = wilson(count, len(hits))
    return Figure(count / len(hits), low, high, len(hits))


def by_type(records: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    """Records of each of the types 1 to 4 that has some, then of these types together."""
    kept = [record for record in records if record["type"] in ANSWERED_TYPES]
    for name in ANSWERED_TYPES:
        own = [record for record in kept if record["type"] == name]
        if own:
            yield name, own
    if kept:
        yield OVERALL, kept


def label(type_: str) -> str:
    """What a table calls a type."""
    return f"{OVERALL} (types 1-4)" if type_ == OVERALL else type_


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


def difference_cells(difference: Difference, p: float) -> list[str]:
    """Mean difference in points with its interval, adjusted `p`, and the verdict."""
    found = difference.estimate
    figure = Figure(found.mean, found.low, found.high, found.n)
    return [show(figure, 100, 1), f"{p:.3f}" if p >= 0.0005 else "<0.001", verdict(difference, p)]


def verdict(difference: Difference, p: float) -> str:
    """`better`, `worse` or `no difference shown`, by the rule of docs/statistics.md.

    `p` is the adjusted p of `difference`, second run minus first, where more is better.
    """
    found = difference.estimate
    if p < ALPHA and (found.low > 0 or found.high < 0):
        return "better" if found.mean > 0 else "worse"
    if found.error == 0:
        return "no difference shown"
    return f"no difference shown (needs {100 * difference.detectable:.1f})"
