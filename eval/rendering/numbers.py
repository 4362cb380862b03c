"""Numbers as text: scores, differences, shares, dollars, p values and intervals."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, inf, isnan, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a command's help needs no numpy
    from eval.metrics.stats.interval import Interval

ABSENT = "-"
UNJUDGED = "no judge"


def number(value: float | None, digits: int = 3, absent: str = ABSENT) -> str:
    """Format `1,234.500`, never as `-0.000`; `absent` for None and nan."""
    if value is None or isnan(value):
        return absent
    return f"{value if round(value, digits) else 0.0:,.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """Format `+0.012` or `-0.012`, and zero as `0.000`."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def share(value: float | None, digits: int = 1) -> str:
    """Format a share of 0 to 1 as `31.2%`; ABSENT for None and nan."""
    return ABSENT if value is None or isnan(value) else f"{value:.{digits}%}"


def change(value: float, digits: int = 1) -> str:
    """Format a ratio minus 1 as `-91.6%` or `+3.0%`, and zero as `0.0%`."""
    text = f"{value:+.{digits}%}"
    return text if float(text[:-1]) else text[1:]


def dollars(value: float | None, absent: str = ABSENT) -> str:
    """Format US dollars to 4 decimals, or to 8 below a tenth of a cent; `absent` for None."""
    if value is None:
        return absent
    return f"{value:,.4f}" if value == 0 or value >= 0.001 else f"{value:.8f}"


def price(usd: float | None) -> str:
    """Format the dollars of one question as those of 1,000, to three digits; ABSENT for None."""
    if not usd:
        return ABSENT if usd is None else "0"
    each = 1000 * usd
    return number(each, max(0, 2 - floor(log10(each))))


def questions(count: float | None, digits: int = 1, absent: str = ABSENT) -> str:
    """Format a break-even in questions, `never` for infinity; `absent` for None."""
    return "never" if count == inf else number(count, digits, absent)


def p_value(p: float) -> str:
    """Format a p value to 4 decimals, `< 0.0001` below them."""
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def interval(
    estimate: Interval | None,
    digits: int = 3,
    form: Callable[[float, int], str] = number,
    absent: str = ABSENT,
) -> str:
    """Format `0.292 [0.254, 0.329]`; `form` (number, signed or share) formats each part. `absent`
    is for None, for a value of nan, and for an end of nan.
    """
    if estimate is None or isnan(estimate.value):
        return absent
    value, low, high = (
        absent if isnan(part) else form(part, digits)
        for part in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} [{low}, {high}]"


def points(value: float, digits: int = 1) -> str:
    """Format a share of 0 to 1 in points of 100, as `31.2`."""
    return number(100 * value, digits)


def percent(estimate: Interval | None, *, with_n: bool = False) -> str:
    """Format a share as `31.2% [28.0%, 34.4%]`, with ` n=90` on request; ABSENT for None."""
    n = f" n={estimate.n}" if estimate is not None and with_n else ""
    return interval(estimate, 1, share) + n
