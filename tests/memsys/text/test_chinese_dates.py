"""Chinese dates: house style, weeks from Monday, month ends, leap years, year turns."""

from datetime import date

import pytest

from memsys.text.chinese_dates import find_dates_zh
from memsys.text.numbers import chinese_value

WEDNESDAY = date(2024, 4, 17)


def resolved(text: str, said: date = WEDNESDAY) -> list[str]:
    return [mention.period.text for mention in find_dates_zh(text, said)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我昨天去了码头", "2024年4月16日"),
        ("前天下雨", "2024年4月15日"),
        ("大前天下雨", "2024年4月14日"),
        ("明天出发", "2024年4月18日"),
        ("后天出发", "2024年4月19日"),
        ("上周五开张", "2024年4月12日"),
        ("上上周五开张", "2024年4月5日"),
        ("下周一开会", "2024年4月22日"),
        ("这周日休息", "2024年4月21日"),
        ("上周末爬山", "2024年4月13日那个周末"),
        ("上周爬山", "2024年4月17日的前一周"),
        ("两周前爬山", "2024年4月17日的前两周"),
        ("一个星期前", "2024年4月17日的前一周"),
        ("三天前", "2024年4月14日"),
        ("上个月5号", "2024年3月5日"),
        ("下个月", "2024年5月"),
        ("两个月前", "2024年2月"),
        ("去年夏天", "2023年夏天"),
        ("前年", "2022年"),
        ("半年前", "2023年10月"),
        ("去年十一月", "2023年11月"),
        ("2024年3月12日", "2024年3月12日"),
        ("十二月二十五号", "2023年12月25日"),
        ("学了三年了", "2021年"),
    ],
)
def test_house_style(text: str, expected: str) -> None:
    assert resolved(text) == [expected]


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("昨天", date(2024, 3, 1), "2024年2月29日"),
        ("昨天", date(2023, 3, 1), "2023年2月28日"),
        ("昨天", date(2024, 1, 1), "2023年12月31日"),
        ("上个月", date(2024, 1, 31), "2023年12月"),
        ("上周五", date(2024, 1, 1), "2023年12月29日"),
        ("上个月31号", date(2024, 3, 5), None),
    ],
)
def test_turns_of_month_and_year(text: str, said: date, expected: str | None) -> None:
    assert resolved(text, said) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("二十五", 25),
        ("一百零三", 103),
        ("两", 2),
        ("几", None),
    ],
)
def test_numbers_in_characters(text: str, value: int | None) -> None:
    assert chinese_value(text) == value
