"""JSON and YAML of others are parsed whole and within limits, or refused with the reason."""

from __future__ import annotations

import json
import math
from itertools import product

import pytest

from memsys.core.errors import InputError
from memsys.core.json_text import DEPTH, check_json, parse_json
from memsys.core.yaml_text import load_yaml


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
        ("-Infinity", "a number beyond the range of 64 bits"),
        (b'"\xff"', "can't decode byte 0xff"),
        ("{", "Expecting property name"),
        ("", "Expecting value"),
        # The place of a wrong value is named.
        ('{"a": [1, {"b": "\\ud800"}]}', r"^a\[1\]\.b: an unpaired surrogate, \\ud800,"),
        ('[{"\\udfff": 1}]', r"^\[0\]: an unpaired surrogate, \\udfff,"),
        ('{"a": {"b": NaN}, "c": 1}', r"^a\.b: NaN is not JSON$"),
        ('{"a": [2, 3' + "9" * 50 + "]}", r"^a\[1\]: an integer beyond"),
    ],
)
def test_unusable_json_is_refused_with_one_line(text, reason):
    with pytest.raises(ValueError, match=reason) as error:
        parse_json(text)
    assert "\n" not in str(error.value)


def test_repeated_keys_are_refused_and_nan_is_accepted_on_request():
    text = '{"a": 1, "b": {"c": 1, "c": 2}}'
    assert parse_json(text) == {"a": 1, "b": {"c": 2}}
    with pytest.raises(ValueError, match="key 'c' occurs twice in one object"):
        parse_json(text, unique=True)
    assert math.isnan(parse_json("[NaN]", nan=True)[0])
    check_json({math.nan: 1}, nan=True)
    with pytest.raises(ValueError, match="beyond the range"):
        parse_json("[Infinity]", nan=True)


def test_every_unpaired_surrogate_among_other_escapes_is_found():
    parts = ("\\ud83d", "\\ude00", "\\uDBFF", "\\\\", "\\\\ud83d", "\\u2019", "a")
    refused = 0
    for chosen in product(parts, repeat=4):
        text = '"' + "".join(chosen) + '"'
        paired = json.loads(text).encode(errors="replace").decode() == json.loads(text)
        if paired:
            assert parse_json(text) == json.loads(text)
        else:
            refused += 1
            with pytest.raises(ValueError, match="surrogate"):
                parse_json(text)
    assert refused > 1_000


def test_usable_json_is_returned():
    nested = "[" * DEPTH + "]" * DEPTH
    text = f'{{"pair": "\\ud83d\\ude00", "least": -9223372036854775807, "deep": {nested}}}'
    value = parse_json(text)
    assert value["pair"] == "\N{GRINNING FACE}"
    assert value["least"] == -(2**63 - 1)
    check_json({"a": [1, 2.5, None, True, "x"]})  # without text
    with pytest.raises(ValueError, match="surrogate"):
        check_json(["\udc80"])


def _laughs(merge: str) -> str:
    """Nine levels of nine aliases each."""
    lines = ["a0: &a0 {x: 1}"]
    for n in range(1, 10):
        aliases = ", ".join([f"*a{n - 1}"] * 9)
        lines.append(f"a{n}: &a{n} " + merge.format(aliases))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_laughs("[{}]"), "more than 200,000 values once its aliases are replaced"),
        (_laughs("{{<<: [{}]}}"), "more than 200,000 values once its aliases are replaced"),
        ("&a [*a]", "an alias stands for a value that contains it"),
        ("[" * 1_500, "nested too deep"),
        ("[" * 150 + "]" * 150, "nested more than 100 deep"),
        ("a: " + "9" * 5_000, "not YAML: "),
        ("a: .nan", "a: NaN is not JSON"),
        ("a: .inf", "a: a number beyond"),
        ('a: "\\ud800"', "unpaired surrogate|not YAML"),
        ("a: 1\na: 2", "key 'a' occurs twice"),
        ("a: 2023-13-99", "not YAML"),
        ("a: [", "not YAML"),
        ("--- a\n--- b", "not YAML"),
        ("a: !!python/object/apply:os.system [x]", "not YAML"),
        ("? [1]\n: 2", "not YAML"),
        ("a: \x01", "not YAML"),
    ],
)
def test_unusable_yaml_is_refused_in_one_line(text, says, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        load_yaml(path)
    assert "x.yaml" in str(caught.value)
    assert str(caught.value).isprintable()


def test_usable_yaml_is_returned(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, y: [*a, 2.5]}\nc:\n")
    assert load_yaml(path) == {"a": {"x": 1}, "b": {"x": 1, "y": [{"x": 1}, 2.5]}, "c": None}
    path.write_text("")
    assert load_yaml(path) is None
