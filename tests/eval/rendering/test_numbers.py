"""Numbers as text."""

from __future__ import annotations

import pytest

from eval.rendering.numbers import dollars, interval, number, p_value, share, signed
from eval.stats.interval import Interval


def test_numbers_never_show_a_negative_zero():
    assert (number(1234.5), number(-0.0004), number(None)) == ("1,234.500", "0.000", "-")
    assert (signed(0.0123), signed(-0.0004), signed(-0.5, 1)) == ("+0.012", "0.000", "-0.5")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0.0000"), (1234.5, "1,234.5000"), (0.00012345, "0.00012345")],
)
def test_dollars_below_a_tenth_of_a_cent_show_eight_decimals(value, text):
    assert dollars(value) == text


def test_shares_and_p_values():
    assert (share(0.3125), share(0.5, 0), share(None, absent="unknown")) == (
        "31.2%",
        "50%",
        "unknown",
    )
    assert (p_value(0.04567), p_value(0.00001)) == ("0.0457", "< 0.0001")


def test_an_interval_is_formatted_by_the_form_of_its_parts():
    found = Interval(0.292, 0.254, 0.3291)
    assert interval(found) == "0.292 [0.254, 0.329]"
    assert interval(found, form=signed) == "+0.292 [+0.254, +0.329]"
    assert interval(found, 0, share) == "29% [25%, 33%]"
    assert interval(None) == "-"
