"""English dates: house style, weekday arithmetic, month ends, leap years, year turns."""

from datetime import date

import pytest

from memsys.text.english_dates import find_dates

SATURDAY = date(2023, 7, 15)


def resolved(text: str, said: date) -> list[str]:
    return [mention.period.text for mention in find_dates(text, said)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I sailed yesterday.", "14 July 2023"),
        ("I sailed last night.", "14 July 2023"),
        ("The day before yesterday we met.", "13 July 2023"),
        ("We sail tomorrow.", "16 July 2023"),
        ("I did it this morning.", "15 July 2023"),
        ("Three days ago it rained.", "12 July 2023"),
        ("Last Friday I won.", "the Friday before 15 July 2023"),
        ("last Sat we met", "the Saturday before 15 July 2023"),
        ("I won on Monday.", "10 July 2023"),
        ("I will leave on Monday.", "17 July 2023"),
        ("See you next Tuesday", "the Tuesday after 15 July 2023"),
        ("It opened last week.", "the week before 15 July 2023"),
        ("It opened this week.", "the week of 15 July 2023"),
        ("Two weekends ago we camped.", "two weekends before 15 July 2023"),
        ("a couple of weeks ago", "two weeks before 15 July 2023"),
        ("a few days ago", "a few days before 15 July 2023"),
        ("this past weekend", "the weekend before 15 July 2023"),
        ("It closes next month.", "August 2023"),
        ("It closed last month.", "June 2023"),
        ("I moved two years ago.", "2021"),
        ("I moved half a year ago.", "January 2023"),
        ("I moved last summer.", "summer 2022"),
        ("Since 2016 I paint.", "2016"),
        ("I moved last August.", "August 2022"),
        ("I have rowed for three years now.", "2020"),
        ("It was on May 3rd.", "3 May 2023"),
        ("It was on 3 May 2021.", "3 May 2021"),
        ("We met on the 12th.", "12 July 2023"),
        ("We met on the 20th.", "20 June 2023"),
        ("Two Fridays ago we met.", "7 July 2023"),
        ("The week before last we met.", "two weeks before 15 July 2023"),
        ("We met last Christmas.", "25 December 2022"),
        ("We will meet on Halloween.", "31 October 2023"),
        ("It was busy these past few weeks.", "a few weeks before 15 July 2023"),
        ("I came three hours ago.", "15 July 2023"),
        ("We met during the winter.", "winter 2022"),
        ("2022-02-28 it was", "28 February 2022"),
    ],
)
def test_house_style(text: str, expected: str) -> None:
    assert resolved(text, SATURDAY) == [expected]


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("yesterday", date(2024, 3, 1), "29 February 2024"),
        ("yesterday", date(2023, 3, 1), "28 February 2023"),
        ("tomorrow", date(2023, 12, 31), "1 January 2024"),
        ("last month", date(2024, 1, 31), "December 2023"),
        ("next month", date(2023, 12, 2), "January 2024"),
        ("one month ago", date(2024, 3, 31), "February 2024"),
        ("in December", date(2024, 1, 5), "December 2023"),
        ("on December 30", date(2024, 1, 5), "30 December 2023"),
        ("last winter", date(2024, 7, 1), "winter 2023"),
        ("on the 31st", date(2023, 7, 15), None),
    ],
)
def test_turns_of_month_and_year(text: str, said: date, expected: str | None) -> None:
    assert resolved(text, said) == ([expected] if expected else [])


def test_the_days_behind_the_words() -> None:
    friday = find_dates("last Friday", date(2023, 7, 15))[0].period
    assert (friday.first, friday.last) == (date(2023, 7, 14), date(2023, 7, 14))
    same = find_dates("last Friday", date(2023, 7, 14))[0].period
    assert same.first == date(2023, 7, 7)
    week = find_dates("last week", date(2024, 3, 6))[0].period
    assert (week.first, week.last) == (date(2024, 2, 26), date(2024, 3, 3))


@pytest.mark.parametrize(
    "text",
    ["It may rain.", "We sat in the sun.", "They march on.", "30 February 2023?", "10 years"],
)
def test_no_date_is_invented(text: str) -> None:
    assert resolved(text, SATURDAY) == []


def test_positions_point_at_the_words() -> None:
    text = "I ran last Friday and rest tomorrow."
    found = find_dates(text, SATURDAY)
    assert [text[m.start : m.end] for m in found] == ["last Friday", "tomorrow"]
