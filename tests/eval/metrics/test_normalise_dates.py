"""Dates in parts."""

import pytest

from eval.metrics.normalise import normalise, terms


@pytest.mark.parametrize(
    "text",
    [
        "7 May 2023",
        "May 7th, 2023",
        "May 7, 2023",
        "the 7th of May, 2023",
        "2023-05-07",
        "2023/5/7",
        "2023.05.07",
        "7-May-2023",
        "7May, 2023",
        "May seventh, 2023",
        "May 7 '23",
        "7 MAY 2023",
        "７ Ｍａｙ ２０２３",
        "2023年5月7日",
        "2023 年 5 月 7 号",
        "二〇二三年五月七日",
    ],
)
def test_one_day_in_many_spellings(text: str) -> None:
    assert sorted(terms(text)) == ["2023", "day7", "month5"]


@pytest.mark.parametrize(
    "text", ["May 2023", "May, 2023", "May of 2023", "2023-05", "2023/05", "2023年5月", "2023 May"]
)
def test_one_month_in_many_spellings(text: str) -> None:
    assert sorted(terms(text)) == ["2023", "month5"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("13/5/2023", "day13 month5 2023"),  # above 12: told apart
        ("05/13/2023", "day13 month5 2023"),
        ("5/5/2023", "day5 month5 2023"),
        ("5/7/2023", "5 7 2023"),  # May or July
        ("40/5/2023", "40/5/2023"),
        ("7-9 May", "day7-day9 month5"),
        ("May 7 or 8, 2023", "month5 day7 or day8, 2023"),
        ("May 7 and 8 dogs", "month5 day7 and 8 dogs"),
        ("Sept. 5", "month9 day5"),
        ("on the 7th", "on day7"),
        ("on the 7th floor", "on the 7th floor"),
        ("June and May", "month6 and month5"),
        ("May", "month5"),
        ("in March", "in month3"),
        ("she may march", "she may march"),
        ("the class of 2023 may visit", "the class of 2023 may visit"),
        ("2023, May 7", "2023, month5 day7"),
        ("7/8 May", "day7/day8 month5"),
        ("7 dogs", "7 dogs"),
        ("May 2.5", "may 2.5"),
        ("3月", "month3"),
        ("13月", "13月"),
        ("三个月", "3 个月"),
        ("2020-21", "2020-21"),
    ],
)
def test_what_is_a_date_and_what_is_not(text: str, expected: str) -> None:
    assert normalise(text) == expected
