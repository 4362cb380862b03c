"""One spelling of words, dates and numbers: by hand, and what holds for every text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.metrics.normalise import fold, in_figures, normalise, terms

PIECES = (
    "may march june 7 2nd second 2023 twenty one hundred million and or of the on in a 1,200 3.5 "
    "5/7/2023 2023-05-07 2023-05 's n't can't it's % $ - / , . ; : ' '23 p.m. 5pm 5月7日 2023年 "
    "二十 三 万 百分之 零 十 ( dozen first 1st -5 twenty-one not 亿 千 克 号 年 月 ’ – Ａ"
).split()
TEXTS = st.one_of(
    st.lists(st.sampled_from([*PIECES, *" " * 40]), max_size=14).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join),
    st.text(max_size=20),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She won't pay $1,200 on May 7th", "she will not pay dollars 1200 on month5 day7"),
        ("can't cannot shan't didn't isnt", "can not can not shall not did not is not"),
        ("It's Ann's dogs’ bowl, let's go", "it is ann dogs bowl, let us go"),
        ("I'm, we're, they've, he'll, she'd", "i am, we are, they have, he will, she would"),
        ("rock 'n' roll at 5 o'clock", "rock n roll at 5 oclock"),
        ("the 1980's", "the 1980s"),
        ("1,200,000 and 1,200.50 but 5,2023", "1200000 and 1200.50 but 5,2023"),
        ("50% = fifty per cent", "50 percent = 50 percent"),
        ("百分之五十", "50 percent"),
        ("5p.m. in the U.S.", "5 pm in the us"),
        ("10km 3rd 1980s mp3", "10 km 3rd 1980s mp3"),
        ("“Ｂｌｕｅ”\u200b  –  café", "“blue” - café"),
        ("٣ dogs", "3 dogs"),
        # What is a date and what is not
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
def test_normalise(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The running dogs (blue)", "run dog blue"),
        ("me-time", "me time"),
        ("is I", "is i"),  # a stem of "is" must not be the pronoun
        ("not the cat", "not cat"),
        ("A", "a"),  # an article is kept where nothing else is left
        ("the a", "the a"),
        ("-5 degrees", "-5 degre"),
        ("5-10", "5 10"),
        ("3.5 at 10:30", "3.5 at 10:30"),
        ("我在北京2天", "我 在 北 京 2 天"),
        ("とても", "と て も"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_terms(text, expected):
    assert terms(text) == tuple(expected.split())


@settings(deadline=None, max_examples=120)
@given(TEXTS)
def test_normalising_twice_changes_nothing(text):
    once = normalise(text)
    assert normalise(once) == once
    assert terms(once) == terms(text)
    assert fold(fold(text)) == fold(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from([p for p in PIECES if p.isascii()]), max_size=8).map(" ".join))
def test_case_and_width_do_not_matter(text):
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else "\u3000" for c in text)
    assert terms(text.upper()) == terms(text) == terms(wide)


DAY = (
    *("7 May 2023", "May 7th, 2023", "May 7, 2023", "the 7th of May, 2023", "7-May-2023"),
    *("2023-05-07", "2023/5/7", "2023.05.07", "7May, 2023", "May seventh, 2023", "May 7 '23"),
    *("7 MAY 2023", "７ Ｍａｙ ２０２３"),
    *("2023年5月7日", "2023 年 5 月 7 号", "二〇二三年五月七日"),
)
MONTH = ("May 2023", "May, 2023", "May of 2023", "2023-05", "2023/05", "2023年5月", "2023 May")


@pytest.mark.parametrize("text", [*DAY, *MONTH])
def test_one_day_or_month_in_many_spellings(text):
    assert sorted(terms(text)) == ["2023", *(["day7"] if text in DAY else []), "month5"]


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
        ("two hundred hundred", "200 100"),
        ("two dozen", "24"),
        ("two thousand million", "2000 1000000"),
        ("two million thousand", "2000000 1000"),
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
def test_numbers_in_words(text, expected):
    output = in_figures(text)
    assert (output if text.isascii() else output.strip()) == expected


_ONES = "one two three four five six seven eight nine".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


@given(st.integers(1, 9), st.integers(2, 9), st.integers(1, 9))
def test_three_digits_in_both_languages(hundreds, tens, ones):
    value = str(100 * hundreds + 10 * tens + ones)
    en = f"{_ONES[hundreds - 1]} hundred and {_TENS[tens - 2]}-{_ONES[ones - 1]}"
    zh = " 一二三四五六七八九"
    assert in_figures(en) == value
    assert in_figures(f"{zh[hundreds]}百{zh[tens]}十{zh[ones]}").strip() == value
