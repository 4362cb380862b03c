"""Number words as figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics.numbers import in_figures


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three dogs", "3 dogs"),
        ("twenty-one", "21"),
        ("twenty one", "21"),
        ("twenty, one", "20, 1"),
        ("one two", "1 2"),
        ("one hundred and two dogs", "102 dogs"),
        ("two million three hundred thousand and five", "2300005"),
        ("two thousand and twenty three", "2023"),
        ("a hundred", "a 100"),
        ("two dozen", "24"),
        ("1.5 million", "1500000"),
        ("dogs and cats one and two", "dogs and cats 1 and 2"),
        ("the second dog", "the 2nd dog"),
        ("eleventh, twelfth, twentieth", "11th, 12th, 20th"),
        ("twenty-second", "22nd"),
        ("one hundred and first", "101st"),
        ("one second", "1 second"),  # the unit of time
        ("30 second", "30 second"),
        ("someone often weighs", "someone often weighs"),
        ("a few, dozens, hundreds", "a few, dozens, hundreds"),
    ],
)
def test_english(text: str, expected: str) -> None:
    assert in_figures(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三", "3"),
        ("二十三个", "23 个"),
        ("十二月", "12 月"),
        ("两千零五", "2005"),
        ("二〇二三年", "2023 年"),
        ("一百二", "120"),
        ("三万五", "35000"),
        ("150万", "1500000"),
        ("一亿二千万", "120000000"),
        ("一万亿", "1000000000000"),
        ("三千克", "3 千克"),  # kilograms
        ("两三个", "2 3 个"),
        ("二三十人", "2 30 人"),
        ("几个", "几个"),
        ("千万", "千万"),
    ],
)
def test_chinese(text: str, expected: str) -> None:
    assert in_figures(text).strip() == expected


_ONES = "one two three four five six seven eight nine".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


@given(st.integers(1, 9), st.integers(2, 9), st.integers(1, 9))
def test_three_digits_in_both_languages(hundreds: int, tens: int, ones: int) -> None:
    value = str(100 * hundreds + 10 * tens + ones)
    zh = " 一二三四五六七八九"
    assert (
        in_figures(f"{_ONES[hundreds - 1]} hundred and {_TENS[tens - 2]}-{_ONES[ones - 1]}")
        == value
    )
    assert in_figures(f"{zh[hundreds]}百{zh[tens]}十{zh[ones]}").strip() == value
