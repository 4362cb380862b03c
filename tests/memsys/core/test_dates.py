"""Dates in English and Chinese: house style, weekdays, ends of months, leap years and ISO 8601."""

import re
from datetime import date

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memsys.core import english_dates
from memsys.core.chinese_dates import find_dates_zh, resolve
from memsys.core.english_dates import find_dates
from memsys.core.numbers import chinese_value

SATURDAY, WEDNESDAY, SUNDAY = date(2023, 7, 15), date(2024, 4, 17), date(2024, 1, 14)


def resolved(text: str, said: date) -> list[str]:
    find = find_dates if text.isascii() else find_dates_zh
    return [mention.period.text for mention in find(text, said)]


HOUSE_STYLE = [
    *((f"I sailed {night}.", "14 July 2023") for night in ("yesterday", "last night")),
    ("We sail the day after tomorrow.", "17 July 2023"),
    ("Three days ago it rained.", "12 July 2023"),
    ("Last Friday I won.", "the Friday before 15 July 2023"),
    ("I won on Monday.", "10 July 2023"),
    ("I will leave on Monday.", "17 July 2023"),
    ("See you next Tuesday", "the Tuesday after 15 July 2023"),
    ("It opened last week.", "the week before 15 July 2023"),
    ("Two weekends ago we camped.", "two weekends before 15 July 2023"),
    ("a couple of weeks ago", "two weeks before 15 July 2023"),
    ("It closes next month.", "August 2023"),
    ("I moved two years ago.", "2021"),
    ("I moved half a year ago.", "January 2023"),
    ("I moved last summer.", "summer 2022"),
    ("Since 2016 I paint.", "2016"),
    ("I moved last August.", "August 2022"),
    ("I have rowed for three years now.", "2020"),
    ("It was on May 3rd.", "3 May 2023"),
    ("It was on 3 May 2021.", "3 May 2021"),
    ("We met on the 12th.", "12 July 2023"),
    ("Two Fridays ago we met.", "7 July 2023"),
    ("The week before last we met.", "two weeks before 15 July 2023"),
    ("We met last Christmas.", "25 December 2022"),
    ("We will meet on Halloween.", "31 October 2023"),
    ("It was busy these past few weeks.", "a few weeks before 15 July 2023"),
    ("I came three hours ago.", "15 July 2023"),
    ("We met during the winter.", "winter 2022"),
    ("2022-02-28 it was", "28 February 2022"),
    ("我昨天去了码头", "2024年4月16日"),
    ("后天出发", "2024年4月19日"),
    ("上周五开张", "2024年4月12日"),
    ("下周一开会", "2024年4月22日"),
    ("上周末爬山", "2024年4月13日那个周末"),
    ("上周爬山", "2024年4月17日的前一周"),
    *((ago, "2024年4月17日的前两周") for ago in ("两周前爬山", "两个星期前")),
    ("三天前", "2024年4月14日"),
    ("上个月5号", "2024年3月5日"),
    ("去年夏天", "2023年夏天"),
    ("前年", "2022年"),
    ("半年前", "2023年10月"),
    ("去年十一月", "2023年11月"),
    ("2024年3月12日", "2024年3月12日"),
    ("十二月二十五号", "2023年12月25日"),
    ("学了三天了", "2024年4月14日"),
]


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        *((text, SATURDAY if text.isascii() else WEDNESDAY, as_) for text, as_ in HOUSE_STYLE),
        ("yesterday", date(2024, 3, 1), "29 February 2024"),
        ("tomorrow", date(2023, 12, 31), "1 January 2024"),
        ("next month", date(2023, 12, 2), "January 2024"),
        ("one month ago", date(2024, 3, 31), "February 2024"),
        ("in December", date(2024, 1, 5), "December 2023"),
        ("on December 30", date(2024, 1, 5), "30 December 2023"),
        ("last winter", date(2024, 7, 1), "winter 2023"),
        ("on the 31st", date(2023, 7, 15), None),
        # A word that may name a date, and does not
        *((text, SATURDAY, None) for text in ("It may rain.", "We sat in the sun.")),
        *((text, SATURDAY, None) for text in ("They march on.", "30 February 2023?", "10 years")),
        ("昨天", date(2024, 3, 1), "2024年2月29日"),
        ("上个月", date(2024, 1, 31), "2023年12月"),
        ("上周五", date(2024, 1, 1), "2023年12月29日"),
        ("上个月31号", date(2024, 3, 5), None),
        ("几月5号", date(2024, 3, 5), None),
        ("去年13月", date(2024, 3, 5), "2023年"),
    ],
)
def test_a_date_is_written_in_house_style_also_at_turns_of_month_and_year(text, said, expected):
    assert resolved(text, said) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("text", "said", "first", "last"),
    [
        ("for three months", date(2023, 7, 12), date(2023, 4, 1), date(2023, 4, 30)),
        ("last year", date(2023, 7, 12), date(2022, 1, 1), date(2022, 12, 31)),
        ("this weekend", date(2023, 7, 12), date(2023, 7, 15), date(2023, 7, 16)),
        ("last Friday", SATURDAY, date(2023, 7, 14), date(2023, 7, 14)),
        ("last Friday", date(2023, 7, 14), date(2023, 7, 7), date(2023, 7, 7)),
        ("last week", date(2024, 3, 6), date(2024, 2, 26), date(2024, 3, 3)),
        ("this weekend", SATURDAY, SATURDAY, date(2023, 7, 16)),
        ("this weekend", date(2023, 7, 16), SATURDAY, date(2023, 7, 16)),
        ("over the weekend", date(2023, 7, 12), date(2023, 7, 8), date(2023, 7, 9)),
    ],
)
def test_the_days_of_a_period(text, said, first, last):
    (mention,) = find_dates(text, said)
    assert (mention.period.first, mention.period.last) == (first, last)


def test_letters_that_are_equal_without_case_are_read_as_plain_ones():
    assert find_dates("\u017fat, 5 \u017feptember, w\u0130nter", date(2023, 5, 7)) == find_dates(
        "sat, 5 september, winter", date(2023, 5, 7)
    )


def test_positions_point_at_the_words_and_characters_are_numbers():
    text = "I ran last Friday and rest tomorrow."
    found = find_dates(text, SATURDAY)
    assert [text[m.start : m.end] for m in found] == ["last Friday", "tomorrow"]
    numbers = {"十": 10, "十二": 12, "二十五": 25, "一百零三": 103, "两": 2, "几": None}
    assert {text: chinese_value(text) for text in numbers} == numbers


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Yesterday.", "2024-01-13"),
        ("2024-01-10T10:00:00", "2024-01-10"),  # the time of day is left out
        ("2024-01-10 10:00", "2024-01-10"),
        ("9 January 2024, 19:42", "2024-01-09"),
        ("the day before yesterday", "2024-01-12"),
        ("2 days ago", "2024-01-12"),
        ("three weeks ago", "2023-12-18/2023-12-24"),  # Monday to Sunday
        ("this week", "2024-01-08/2024-01-14"),
        *((ahead, "2024-02") for ahead in ("a month from now", "in one month")),
        ("12 months ago", "2023-01"),
        ("next year", "2025"),
        ("last Friday", "2024-01-12"),
        ("last sunday", "2024-01-07"),  # said on a Sunday: not that day
        ("next sunday", "2024-01-21"),
        ("昨天", "2024-01-13"),
        ("两周前", "2023-12-25/2023-12-31"),
        ("明年", "2025"),
        *((iso, iso) for iso in ("2023", "2023-02", "2023-02-28", "2023-12-18/2023-12-24")),
        ("May 2023", "2023-05"),
        *((vague, None) for vague in ("a few weeks ago", "last weekend", "last summer", "几周前")),
        # What names no date.
        *((words, None) for words in ("", "soon", "3 days", "some days ago", "9999 years ago")),
        *((words, None) for words in ("in 99999999999 days", "9 Brumaire 2023")),
        *((date, None) for date in ("31 February 2023", "2023-02-30", "2023-13", "0000-01-01")),
        *((date, None) for date in ("2023-1-5", "2023-12-24/2023-12-18")),
        # A comma before a year, and words that bound a time.
        ("May 8, 2019", "2019-05-08"),
        *((bound, None) for bound in ("today, maybe next week", "since 2016", "by 2016")),
        # Further words for the same.
        *((day, "2024-01-14") for day in ("this day", "这天")),
        *((words, year) for words, year in (("本年", "2024"), ("上年", "2023"), ("下年", "2025"))),
        *((ago, month) for ago, month in (("一月前", "2023-12"), ("3 月后", "2024-04"))),
    ],
)
def test_words_for_a_time_are_as_exact_in_iso_8601_as_they_were_and_no_more(words, expected):
    assert resolve(words, SUNDAY) == expected


@pytest.mark.parametrize("pattern", [rule[0] for rule in english_dates._RULES])
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_what_a_rule_matches_has_the_part_of_a_date_by_which_the_rule_is_chosen(
    pattern: re.Pattern[str], data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(pattern)).translate(english_dates._READ_AS_PLAIN)
    assume(pattern.search(text))
    hints = {hint.lastgroup for hint in english_dates._HINTS.finditer(text.lower())}
    assert english_dates._part(pattern) in {None, *hints}
    assert hints
