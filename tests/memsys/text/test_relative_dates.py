"""Words for a time become dates of ISO 8601, as exact as they were and no more."""

from __future__ import annotations

from datetime import date

import pytest

from memsys.text.relative_dates import resolve

SUNDAY = date(2024, 1, 14)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Yesterday.", "2024-01-13"),
        ("the day before yesterday", "2024-01-12"),
        ("2 days ago", "2024-01-12"),
        ("three weeks ago", "2023-12-18/2023-12-24"),  # Monday to Sunday
        ("this week", "2024-01-08/2024-01-14"),
        ("last month", "2023-12"),
        ("a month from now", "2024-02"),
        ("in two months", "2024-03"),
        ("12 months ago", "2023-01"),
        ("next year", "2025"),
        ("last Friday", "2024-01-12"),
        ("last sunday", "2024-01-07"),  # said on a Sunday: not that day
        ("next sunday", "2024-01-21"),
        ("昨天", "2024-01-13"),
        ("三天前", "2024-01-11"),
        ("上个月", "2023-12"),
        ("两周前", "2023-12-25/2023-12-31"),
        ("去年", "2023"),
        ("明年", "2025"),
    ],
)
def test_relative_words_are_counted_from_the_day_they_were_said(words: str, expected: str) -> None:
    assert resolve(words, SUNDAY) == expected


@pytest.mark.parametrize("iso", ["2023", "2023-02", "2023-02-28", "2023-12-18/2023-12-24"])
def test_a_date_is_kept(iso: str) -> None:
    assert resolve(iso, SUNDAY) == iso


def test_the_time_of_day_is_left_out() -> None:
    assert resolve("2024-01-10T10:00:00", SUNDAY) == "2024-01-10"
    assert resolve("2024-01-10 10:00", SUNDAY) == "2024-01-10"
    assert resolve("9 January 2024, 19:42", SUNDAY) == "2024-01-09"


@pytest.mark.parametrize(
    "words",
    [
        *("", "soon", "3 days", "some days ago", "9999 years ago", "in 99999999999 days"),
        *(
            "2023-02-30",
            "2023-13",
            "0000-01-01",
            "2023-12-24/2023-12-18",
            "2023-1-5",
            "31 February 2023",
            "9 Brumaire 2023",
        ),
    ],
)
def test_what_names_no_date_is_none(words: str) -> None:
    assert resolve(words, SUNDAY) is None
