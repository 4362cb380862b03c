"""JSON of other programs is parsed whole, or refused with the reason."""

from __future__ import annotations

import pytest

from memsys.text.json_text import DEPTH, check_json, parse_json


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": ["\\ud800"]}', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ("[" * 100_000, "nested more than 100 deep"),
        ("[" * 900 + "]" * 900, "nested more than 100 deep"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested more than 100 deep"),
        ("9" * 5_000, "an integer beyond the range of 64 bits"),
        ("[9223372036854775808]", "an integer beyond the range of 64 bits"),
        ("1e999", "a number beyond the range of 64 bits"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        (b'"\xff"', "can't decode byte 0xff"),
        ("{", "Expecting property name"),
        ("", "Expecting value"),
    ],
)
def test_unusable_json_is_refused_with_one_line(text: str | bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as error:
        parse_json(text)
    assert "\n" not in str(error.value)


def test_usable_json_is_returned() -> None:
    nested = "[" * DEPTH + "]" * DEPTH
    text = f'{{"pair": "\\ud83d\\ude00", "least": -9223372036854775807, "deep": {nested}}}'
    value = parse_json(text)
    assert value["pair"] == "\N{GRINNING FACE}"
    assert value["least"] == -(2**63 - 1)


def test_values_are_checked_without_text() -> None:
    check_json({"a": [1, 2.5, None, True, "x"]})
    with pytest.raises(ValueError, match="surrogate"):
        check_json(["\udc80"])
